"""What the lab's sample answers are written with: functions of a cell, and names for the methods of ``models.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import dedent, indent

from autograder.exercise import SampleAnswer, variant

#: The body of a method that the student has not begun.
NOT_BEGUN = "raise NotImplementedError()"

METHOD = ("AttentionHead", "scaled_dot_product_attention")
HEAD_INIT, HEAD = ("AttentionHead", "__init__"), ("AttentionHead", "forward")
HEADS_INIT, HEADS = ("MultiHeadAttention", "__init__"), ("MultiHeadAttention", "forward")
NETWORK_INIT, NETWORK = ("FeedForward", "__init__"), ("FeedForward", "forward")
EMBEDDINGS_INIT, EMBEDDINGS = ("Embeddings", "__init__"), ("Embeddings", "forward")
LAYER_INIT, LAYER = ("TransformerEncoderLayer", "__init__"), ("TransformerEncoderLayer", "forward")
ENCODER_INIT, ENCODER = ("TransformerEncoder", "__init__"), ("TransformerEncoder", "forward")
CLASSIFICATION_INIT, CLASSIFICATION = ("ClassificationHead", "__init__"), ("ClassificationHead", "forward")
MODEL = ("TransformerForSequenceClassification", "forward")
MODEL_INIT = ("TransformerForSequenceClassification", "__init__")

#: A head that returns output and weights, as its method does; and a multi-head attention that returns a pair.
RETURNS_PAIR = (HEAD, "x = hidden_states\nreturn self.scaled_dot_product_attention(self.wq(x), self.wk(x), self.wv(x))")
HEADS_PAIR = (
    HEADS,
    "return self.output_linear(torch.cat([head(hidden_states) for head in self.heads], dim=-1)), None",
)
#: A multi-head attention that sets its heads' weights.
SET_WEIGHTS = (HEADS_INIT, """
assert d_model % num_attention_heads == 0, "d_model must be a multiple of num_attention_heads"
size = d_model // num_attention_heads
self.heads = nn.ModuleList(AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads))
self.output_linear = nn.Linear(d_model, d_model)
for head in self.heads:
    for layer in (head.wq, head.wk, head.wv):
        nn.init.xavier_uniform_(layer.weight)
""")  # fmt: skip


def returning(head: str, before: str = "") -> Callable[[str], str]:
    """What makes a whole function of what it returns. before: statements that come first."""
    return lambda code: variant(head, f"{before}\nreturn {code}")


def function(head: str, body: str) -> str:
    """A whole function: its first line, and its body in any indentation."""
    return f"{head}\n{indent(dedent(body).strip(), 4 * ' ')}\n"


def right_functions(head: str, bodies: Mapping[str, str]) -> list[SampleAnswer]:
    """bodies: name of the answer -> the function's body"""
    return [SampleAnswer(name, function(head, body)) for name, body in bodies.items()]


def wrong_functions(head: str, *answers: tuple[str, str, str], body: str = "return {code}") -> list[SampleAnswer]:
    """answers: (name, code, mistake); ``body`` is the function's body, with a place for the code."""
    return [
        SampleAnswer(name, function(head, dedent(body).format(code=code)), points=0, mistake=mistake)
        for name, code, mistake in answers
    ]


def right_choices(name: str, right: Sequence[str]) -> list[SampleAnswer]:
    """The right list of answers, written in four ways."""
    styles = {
        "a list": list(right),
        "a tuple": tuple(right),
        "capitals": [word.capitalize() for word in right],
        "spaces": [f" {word} " for word in right],
    }
    return [SampleAnswer(style, f"{name} = {written}") for style, written in styles.items()]


def wrong_choices(
    name: str, right: Sequence[str], options: Sequence[Sequence[str]], shared: bool = False
) -> list[SampleAnswer]:
    """Each statement answered wrongly once, one answer for all of them, and lists of another form.

    options: for each statement, what can be chosen. The visible check looks at the form alone.
    shared: whether each right answer has its part of the points.
    """
    found = []

    def left(count: int) -> float:
        return count / len(right) if shared else 0.0

    for place, (value, known) in enumerate(zip(right, options, strict=True)):
        wrong = [*right]
        wrong[place] = next(option for option in known if option != value)
        found.append(
            SampleAnswer(f"statement {place + 1}", f"{name} = {wrong}", share=left(len(right) - 1), passes_check=True)
        )
    same, can_be_chosen = [right[0]] * len(right), all(right[0] in known for known in options)
    also = left(right.count(right[0]))
    return [
        *found,
        SampleAnswer("one answer for all", f"{name} = {same}", share=also, passes_check=can_be_chosen),
        SampleAnswer("too short", f"{name} = {list(right[:-1])}", points=0),
        SampleAnswer("not to choose from", f"{name} = {['maybe'] * len(right)}", points=0),
    ]

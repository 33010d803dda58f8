"""``MultiHeadAttention.__init__``: the list of heads and their sizes."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, Patch

from ._answers import HEAD_INIT, HEADS_INIT, NOT_BEGUN, SET_WEIGHTS
from ._rules import SIZES, multi_head_init


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    # no number of heads is that of a head's numbers, or one more
    for heads, size in zip(generator.permutation(np.arange(6, 10))[:3].tolist(), (4, 3, 2), strict=True):
        d_model = heads * size
        expected = {
            "length": np.array(heads),
            "distinct": np.array(heads),
            "registered": np.array(heads),
            "head_arguments": np.array([[d_model, size, size, size]] * heads),
            "output_linear": np.array([d_model, d_model]),
            "refuses_uneven": np.array(True),
        }
        made.append(Case({"d_model": d_model, "num_attention_heads": heads}, expected=expected))
    return made


NEW = "AttentionHead(d_model, size, size, size)"
MANY = "for _ in range(num_attention_heads)"
SHARED = "AttentionHead(d_model, *3 * [num_attention_heads])"
WHOLE_SET = (HEADS_INIT, SET_WEIGHTS[1].replace("size, size, size", "d_model, d_model, d_model"))
UNEVEN_SET = (HEADS_INIT, SET_WEIGHTS[1].replace("assert", "pass  # assert").replace(
    "nn.Linear(d_model", "nn.Linear(size * num_attention_heads"))  # fmt: skip
LINEAR = "self.output_linear = nn.Linear(d_model, d_model)"


def made_of(heads: str, size: str = "d_model // num_attention_heads", linear: str = LINEAR) -> Patch:
    return HEADS_INIT, f"size = {size}\nself.heads = {heads}\n{linear}"


MISTAKES = [
    Mistake("M14-list", "The heads are in a plain Python list: their parameters are invisible to the model.",
            "nn.ModuleList is a list that registers what it holds.", made_of(f"[{NEW} {MANY}]")),
    Mistake("M14-same", "The list holds one and the same head several times.",
            "Make a new AttentionHead for each of them.", made_of(f"nn.ModuleList([{NEW}] * num_attention_heads)")),
    Mistake("M14-one", "There is one head only.", "num_attention_heads says how many.",
            made_of(f"nn.ModuleList([{NEW}])")),
    Mistake("M14-off", "One head is missing.", "range(n) counts from 0 to n - 1: that is n steps.",
            made_of(f"nn.ModuleList({NEW} for _ in range(num_attention_heads - 1))")),
    Mistake("M14-size", "There are as many heads as a head has numbers.", "num_attention_heads says how many.",
            made_of(f"nn.ModuleList({NEW} for _ in range(size))")),
    Mistake("heads-whole", "Every head works on d_model numbers.", "The heads share d_model among them.",
            WHOLE_SET),
    Mistake("heads-whole", "Every head works on d_model numbers.", "The heads share d_model among them.",
            made_of(f"nn.ModuleList(AttentionHead(d_model, d_model, d_model, d_model) {MANY})")),
    Mistake("heads-narrow", "Every head is made with its own size as d_model: it cannot read a whole vector.",
            "d_model is the length of the vector that goes in; it stays whole.",
            made_of(f"nn.ModuleList(AttentionHead(size, size, size, size) {MANY})")),
    Mistake("heads-count", "Each head is num_attention_heads numbers wide.",
            "The heads share the d_model numbers among them: how many does each of them get?",
            made_of(f"nn.ModuleList({SHARED} {MANY})")),
    Mistake("heads-uneven", "A vector that cannot be cut into equal parts is accepted, and an output comes.",
            "10 numbers for 3 heads: say in an error what does not fit.", UNEVEN_SET),
    Mistake("heads-uneven", "A vector that cannot be cut into equal parts is accepted, and an output comes.",
            "10 numbers for 3 heads: say in an error what does not fit.",
            made_of(f"nn.ModuleList({NEW} {MANY})", linear=LINEAR.replace("(d_model", "(size * num_attention_heads"))),
    Mistake("heads-float", "A head's size is a number with a decimal point.", "Whole numbers are divided by //.",
            made_of(f"nn.ModuleList({NEW} {MANY})", size="d_model / num_attention_heads"), by_rule=True),
    SIZES.by(made_of(f"nn.ModuleList({NEW} {MANY})", linear=LINEAR.replace("d_model)", "size)"))),
]  # fmt: skip

RIGHT = {
    "appended in a loop, no word about sizes": [(HEADS_INIT, """
        self.d_head = d_model // num_attention_heads
        self.heads = nn.ModuleList()
        for _ in range(num_attention_heads):
            self.heads.append(AttentionHead(d_model, self.d_head, self.d_head, self.d_head))
        self.output_linear = nn.Linear(d_model, d_model, bias=False)
    """)],
    "an assertion": [(HEADS_INIT, """
        assert d_model % num_attention_heads == 0, "d_model must be a multiple of num_attention_heads"
        size = int(d_model / num_attention_heads)
        self.heads = nn.ModuleList([AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads)])
        self.output_linear = nn.Linear(d_model, d_model)
    """)],
    "named arguments, the linear layer first": [(HEADS_INIT, """
        self.output_linear = nn.Linear(d_model, d_model)
        sizes = dict.fromkeys(("d_k", "d_q", "d_v"), d_model // num_attention_heads)
        self.heads = nn.ModuleList(AttentionHead(d_model=d_model, **sizes) for _ in range(num_attention_heads))
    """)],
    "a Sequential as list": [(HEADS_INIT, """
        size = d_model // num_attention_heads
        self.heads = nn.Sequential(*(AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads)))
        self.output_linear = nn.Linear(d_model, d_model)
    """)],
    "the heads' weights are set": [SET_WEIGHTS],
    "heads that do not work yet": [(HEAD_INIT, NOT_BEGUN)],
}  # fmt: skip

EXERCISE = Exercise(
    cases, multi_head_init, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    accepted={"MultiHeadAttention-ee2e6fea": "A linear layer is asked for: eq. (2) has no bias in it, torch has one."},
    shows=("as many heads as asked for, each its own", "sizes", "what does not fit is refused"),
)  # fmt: skip

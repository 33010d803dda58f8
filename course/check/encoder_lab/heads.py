"""Notebook 1, ``AttentionHead`` and ``MultiHeadAttention``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import CheckFailed, close, fail, passed, running, same_shape
from course.check.distilbert.small import part, undisturbed
from course.check.encoder_lab.attention import LONG, ladder
from course.check.encoder_lab.building import make, with_own_parts
from course.check.encoder_lab.hand_over import HEAD, refuses_uneven
from course.check.encoder_lab.loading import module_of
from course.check.encoder_lab.stand_ins import (
    ReachedInto,
    StandIn,
    first,
    forms,
    replaced,
    returns_pair,
    stand_in_class,
)


@undisturbed
def head_attention(kind: Any) -> None:
    """The method scaled_dot_product_attention of a head."""
    name = "head_attention"
    head = make(name, kind, 7, LONG, LONG, 5)

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with running(name, "scaled_dot_product_attention(q, k, v)", "Is it a method, with self in front?"):
            found = head.scaled_dot_product_attention(q, k, v)
        if not isinstance(found, tuple | list) or len(found) != 2:
            fail(
                name,
                "the method returns two things: output, weights.",
                f"Yours returns one {type(found).__name__}.",
                "return output, weights",
            )
        return found[0]

    ladder(name, attend, LONG)
    query, key, value = torch.randn(2, 3, LONG), torch.randn(2, 7, LONG), torch.randn(2, 7, 5)
    _, weights = head.scaled_dot_product_attention(query, key, value)
    same_shape(name, "the weights (returned second)", weights, (2, 3, 7), "(batch, queries, keys)")
    # values that are unit vectors: the output is then the weights themselves
    if not close(attend(query, key, torch.eye(7).expand(2, 7, 7)), weights):
        fail(
            name,
            "the weights that are returned must be those that mixed the values.",
            "Yours are others.",
            "Return the weights as they come out of the softmax.",
        )
    passed(name, "output and weights", "each row sums to 1", "scaled once")


@undisturbed
def attention_head(kind: Any) -> None:
    """Projections, and the forward pass through them."""
    name = "attention_head"
    head = make(name, kind, 6, 4, 4, 5)
    for layer, size in (("wq", 4), ("wk", 4), ("wv", 5)):
        found = part(name, head, layer)
        if tuple(getattr(found, "weight", torch.zeros(0)).shape) != (size, 6):
            fail(
                name,
                f"{layer} must make {size} numbers out of 6 in AttentionHead(d_model=6, d_k=4, d_q=4, d_v=5).",
                f"Yours is {found}.",
                "The order of the arguments is d_model, d_k, d_q, d_v.",
            )
    received: list[tuple[Tensor, ...]] = []
    mixed = torch.randn(2, 3, 5)

    def method(q: Tensor, k: Tensor, v: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
        received.append((q, k, v))
        return mixed, torch.ones(2, 3, 3) / 3

    for factor, layer in enumerate((head.wq, head.wk, head.wv), start=1):
        layer.weight.fill_(float(factor))
        if layer.bias is not None:
            layer.bias.zero_()
    head.scaled_dot_product_attention = method
    with running(name, "the head on (2, 3, 6)", "Project first, then attend."):
        output = first(head(torch.ones(2, 3, 6)))
    same_shape(name, "the output", output, (2, 3, 5), "(batch, tokens, d_v)")
    if not received:
        passed(name, "sizes", "shape (your forward attends without the method; that is looked at when it is graded)")
        return
    for letter, number, came in zip("qkv", (6.0, 12.0, 18.0), received[0], strict=True):
        if not close(came, torch.full(came.shape, number)):
            raw = "the hidden states themselves" if close(came, torch.ones(came.shape)) else "something else"
            fail(
                name,
                f"{letter}, what w{letter} makes of the hidden states, goes to the method in place "
                f"{'qkv'.index(letter) + 1}.",
                f"Yours passes {raw} there.",
                "Project first, then attend.",
            )
    if not close(output, mixed):
        fail(
            name,
            "forward returns what the method gives first.",
            "Yours returns something else.",
            "Nothing is added to it or changed here: the skips come later, in the layer.",
        )
    passed(name, "wq, wk, wv", "projected, then attended", "returns the output")


@undisturbed
def multi_head_init(kind: Any) -> None:
    """The list of heads, and their sizes."""
    name = "multi_head_init"
    attention, heads, made = _with_heads(name, kind, 15, 3, [nn.Linear(2, 2) for _ in range(30)])
    if len(heads) != 3:
        fail(name, "MultiHeadAttention(d_model=15, num_attention_heads=3) has 3 heads.", f"Yours has {len(heads)}.")
    known = {id(module) for module in attention.modules()}
    if not all(id(head) in known for head in heads):
        fail(
            name,
            "the model must know of its heads, or their parameters are never trained.",
            "Yours stand in a plain Python list.",
            "nn.ModuleList is a list that registers what it holds.",
        )
    if len({id(head) for head in heads}) != 3:
        fail(
            name,
            "each head has parameters of its own.",
            "Yours are one and the same object.",
            "Make a new AttentionHead for each of them.",
        )
    for sizes in ([call.get(key) for key in HEAD] for call in made):
        if sizes != [15, 5, 5, 5] or not all(isinstance(size, int) for size in sizes):
            fail(
                name,
                "3 heads share d_model = 15: each is made with d_model = 15 and d_k = d_q = d_v = 5.",
                f"Yours is made with {dict(zip(HEAD, sizes, strict=True))}.",
            )
    if tuple(part(name, attention, "output_linear").weight.shape) != (15, 15):
        fail(
            name,
            "output_linear takes all heads' vectors, laid end to end, and makes d_model numbers of them.",
            f"Yours is {attention.output_linear}.",
        )
    if not refuses_uneven(module_of(kind)):
        fail(
            name,
            "MultiHeadAttention(10, 3) must not give an output: 10 numbers make no 3 equal parts.",
            "Yours gives one.",
            "d_model must be a multiple of num_attention_heads; say so in an error.",
        )
    passed(name, "3 heads, each its own", "sizes", _says_what_does_not_fit(kind))


def _says_what_does_not_fit(kind: Any) -> str:
    """Costs nothing, but is worth a word: sizes that do not fit are best refused at once."""
    try:
        _with_heads("multi_head_init", kind, 10, 3, [nn.Linear(2, 2)])
    except Exception as failed:
        if failed.__cause__ is not None and str(failed.__cause__):
            return f"10 numbers for 3 heads are refused: “{failed.__cause__}”"
    return "but MultiHeadAttention(10, 3) is not refused with a message of your own: who meets it later will wonder"


@undisturbed
def multi_head_attention(kind: Any) -> None:
    """Concatenation of what the heads give, and the last projection."""
    name = "multi_head_attention"
    numbered = [StandIn(torch.zeros(15, 5), float(number)) for number in (1, -2, 3)]
    attention, _, _ = _with_heads(name, kind, 15, 3, numbered)
    linear = part(name, attention, "output_linear")
    if tuple(linear.weight.shape) != (15, 15):
        fail(
            name, "output_linear makes 15 numbers out of 15.", f"Yours is {linear}.", "Make multi_head_init pass first."
        )
    _put(linear, torch.eye(15))
    try:
        output = _call(name, kind, attention, numbered, torch.randn(2, 4, 15))
    except CheckFailed as failed:
        if not isinstance(failed.__cause__, ReachedInto):
            raise
        return with_own_parts(name, kind, (15, 3), torch.randn(2, 4, 15))
    same_shape(
        name,
        "the output",
        output,
        (2, 4, 15),
        "(batch, tokens, d_model)",
        "The heads' vectors (2, 4, 5) are laid end to end, along the last axis.",
    )
    if not close(output, torch.tensor([1.0, -2.0, 3.0]).repeat_interleave(5).expand(2, 4, 15)):
        fail(
            name,
            "a token's vector must be: all of head 1, then all of head 2, then all of head 3.",
            f"With heads that give 1s, -2s and 3s yours begins {_few(output[0, 0])}.",
            "Concatenate along the last axis.",
        )
    if not all(close(heard.received[0], numbered[0].received[0]) for heard in numbered):
        fail(
            name, "every head gets the same hidden states.", "Yours get different ones.", "The heads work side by side."
        )
    _put(linear, 2 * torch.eye(15))
    doubled = _call(name, kind, attention, numbered, torch.randn(2, 4, 15))
    if not close(doubled, 2 * output):
        fail(name, "what the heads found goes through output_linear.", "In yours that layer changes nothing.")
    passed(name, "heads side by side", "end to end", "output_linear last")


def _with_heads(name: str, kind: Any, d_model: int, count: int, parts: Sequence[nn.Module]) -> Any:
    """Made with stand-ins for its heads -> the module, its heads, the arguments they were made with."""
    head_class, made = stand_in_class(HEAD, parts)
    with replaced(module_of(kind), AttentionHead=head_class):
        attention = make(name, kind, d_model, count)
    return attention, list(part(name, attention, "heads")), made


def _call(name: str, kind: Any, attention: Any, parts: Sequence[StandIn], hidden_states: Tensor) -> Tensor:
    """Its output, with heads that return what the student's own heads return, a tensor or a pair."""
    models = module_of(kind)
    attention.heads = nn.ModuleList(parts)
    pair = returns_pair(lambda: models.AttentionHead(15, 5, 5, 5), hidden_states)
    with running(name, f"the attention on {tuple(hidden_states.shape)}", "Each head takes the hidden states."):
        problem: Exception | None = None
        for form in forms(pair):
            for stand_in in parts:
                stand_in.pair = form
                stand_in.received.clear()
            try:
                return first(attention(hidden_states))
            except Exception as error:
                problem = problem or error
        assert problem is not None
        raise problem


def _put(layer: Any, weight: Tensor) -> None:
    layer.weight.copy_(weight)
    if layer.bias is not None:
        layer.bias.zero_()


def _few(vector: Tensor) -> str:
    return ", ".join(f"{number:.2g}" for number in vector[:6].tolist()) + ", …"

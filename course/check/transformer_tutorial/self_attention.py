"""Notebook 1: the maps of self-attention, and how they are used."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, passed, running, same_shape
from course.check.transformer_tutorial.attention import dot_product_attention
from course.check.transformer_tutorial.small import Fixed, make, replace_part, undisturbed

MAPS = ("to_queries", "to_keys", "to_values")


def self_attention(kind: Any) -> None:
    """Both checks, and one on the whole, with the attention that the class uses itself."""
    self_attention_maps(kind)
    self_attention_forward(kind)
    _whole(kind)


@undisturbed
def self_attention_maps(kind: Any) -> None:
    """Three maps from one word vector to a vector for every head, and one map back."""
    name = "self_attention_maps"
    k, heads = 5, 3
    layer = make(name, kind, k, heads=heads)
    for part in (*MAPS, "unify_heads"):
        given = getattr(layer, part, None)
        if not isinstance(given, nn.Linear):
            fail(name, f"{part} must be an nn.Linear.", f"Yours is {type(given).__name__}.", "Look at __init__.")
        sizes = (k * heads, k) if part == "unify_heads" else (k, k * heads)
        if (given.in_features, given.out_features) != sizes:
            fail(
                name,
                f"with k = {k} and {heads} heads, {part} must lead from {sizes[0]} numbers to {sizes[1]}.",
                f"Yours leads from {given.in_features} to {given.out_features}.",
                "Every head gets a query, a key and a value of size k.",
            )
    biased = [part for part in MAPS if getattr(layer, part).bias is not None]
    if biased:
        fail(
            name, "the three maps have no bias.", f"Yours has one in {', '.join(biased)}.", "nn.Linear can do without."
        )
    if len({id(getattr(layer, part)) for part in MAPS}) < len(MAPS):
        fail(
            name,
            "queries, keys and values are made by three different layers.",
            "Two of yours are the same object.",
            "Three layers, three objects.",
        )
    passed(name, "three maps, one for each role", "sizes", "no bias")


@undisturbed
def self_attention_forward(kind: Any) -> None:
    """The attention is given each head's queries, keys and values, tokens before heads."""
    name = "self_attention_forward"
    b, t, heads, k = 2, 4, 3, 5
    layer = make(name, kind, k, heads=heads).eval()
    for number, part in enumerate(MAPS):
        setattr(layer, part, _tell_apart(k, heads, 10.0 ** (number + 1)))
    unify = nn.Linear(k * heads, k)
    replace_part(name, layer, "unify_heads", unify)
    recorder = Fixed(lambda queries, *_, **__: torch.zeros(b, t, heads * k))
    replace_part(name, layer, "attention", recorder)
    x = torch.randn(b, t, k)
    with running(name, f"a batch of {b} sentences of {t} tokens", "Print the shape after every step."):
        out = layer(x)
    same_shape(name, "the output", out, (b, t, k), "(b, t, k)", "unify_heads comes last.")
    if not recorder.seen:
        passed(
            name, "the shape is right", "your own attention in place of the given line: grading looks at its numbers"
        )
        return
    for number, (part, given) in enumerate(zip(("queries", "keys", "values"), recorder.seen[0], strict=False)):
        same_shape(name, part, given, (b, t, heads, k), "(b, t, heads, k)", "The attention moves the heads itself.")
        factor = 10.0 ** (number + 1)
        want = torch.stack([factor * (head + 1) * x for head in range(heads)], dim=2)
        if not close(given, want):
            other = next(
                (
                    word
                    for power, word in enumerate(("to_queries", "to_keys", "to_values"))
                    if close(given, want * 10.0 ** (power - number))
                ),
                None,
            )
            came = f"Yours come from {other}." if other else "The heads of yours are mixed."
            fail(
                name,
                f"{part} must come from to_{part}, split into heads.",
                came,
                "A map lays the heads end to end: the last axis is heads times k, in this order.",
            )
    passed(name, "three maps, each in its place", "heads split, tokens in front")


def _tell_apart(k: int, heads: int, factor: float) -> nn.Linear:
    """A map whose head number h multiplies its input by ``factor * (h + 1)``."""
    layer = nn.Linear(k, k * heads, bias=False)
    layer.weight.copy_(torch.cat([factor * (head + 1) * torch.eye(k) for head in range(heads)]))
    return layer


@undisturbed
def _whole(kind: Any) -> None:
    """Order of tokens does not matter, sentences stay apart, padding has no say."""
    name = "self_attention"
    layer = make(name, kind, 6, heads=2).eval()

    class Alone:
        """The layer's own attention, looked at as if it were the class of the exercise before."""

        def __new__(cls, dropout: float) -> Any:
            attention = make(name, kind, 6, heads=2, dropout=dropout).attention
            return attention

    dot_product_attention(Alone)
    x = torch.randn(3, 5, 6)
    mask = torch.arange(5) < torch.tensor([5, 3, 4])[:, None]
    with running(name, "a batch with a mask", "forward hands the mask on to the attention."):
        out: Tensor = layer(x, mask)
    short: Tensor = layer(x[1:2, :3], mask[1:2, :3])
    if not close(out[1, :3], short[0]):
        fail(
            name, "a sentence with padding must give what it gives without.", "Yours differs.", "Is the mask handed on?"
        )
    shuffled: Tensor = layer(x[:, [3, 1, 4, 0, 2]])
    if not close(shuffled, layer(x)[:, [3, 1, 4, 0, 2]]):
        fail(
            name,
            "in another order, the same tokens must collect the same.",
            "Yours collect something else.",
            "Self-attention knows nothing of positions.",
        )
    passed(name, "the attention inside is right", "order does not matter", "padding has no say")

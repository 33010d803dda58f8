"""What ``SelfAttention`` gives its attention."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course.check.base import close, fail, passed, running, same_shape
from course.check.transformer_tutorial._calls import make, undisturbed
from course.check.transformer_tutorial._stand_ins import Fixed, replace_part
from course.check.transformer_tutorial.self_attention_maps import MAPS


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

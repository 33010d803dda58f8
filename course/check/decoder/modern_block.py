"""``ModernBlock``, followed from part to part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, passed, same_shape
from course.check.decoder._modern import made, run, turned
from course.check.modules import part, undisturbed

DIM, HEADS, KV_HEADS, HIDDEN = 8, 4, 2, 5
ORDER = ("x", "cos", "sin")  # the arguments of the parts, by name
PARTS = ("input_layernorm", "self_attn", "post_attention_layernorm", "mlp")


class Noting(nn.Module):
    """Stands in for a part: keeps what it was given, and gives something of its own."""

    def __init__(self, compute: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.compute = compute
        self.given: list[Any] = []

    def forward(self, *given: Any, **named: Any) -> Tensor:
        inputs = [*given, *(named[name] for name in ORDER if name in named)]
        self.given = [value.clone() for value in inputs]  # the student may change it afterwards
        return self.compute(inputs[0])


@undisturbed
def modern_block(kind: Any) -> None:
    """Norm, attention, addition; norm, network, addition."""
    name = "modern_block"
    block = made(name, kind, DIM, HEADS, KV_HEADS, HIDDEN)
    for attribute in PARTS:
        part(name, block, attribute)
    if block.input_layernorm is block.post_attention_layernorm:
        fail(name, "there are two norms.", "Yours is one norm under two names.", "Each has its own learned weight.")
    x, tables = torch.randn(2, 3, DIM), turned(torch.rand(3, 1))
    same_shape(name, "the output", run(name, block, x, *tables), (2, 3, DIM), "(batch, tokens, dim)")
    computes = (lambda y: 2 * y + 1, lambda y: y.flip(1) - 3, lambda y: y * y, lambda y: y.cos() + 5)
    noting = {attribute: Noting(compute) for attribute, compute in zip(PARTS, computes, strict=True)}
    for attribute, stand_in in noting.items():
        setattr(block, attribute, stand_in)
    before = x.clone()
    out = run(name, block, x, *tables)
    if not torch.equal(x, before):
        fail(name, "what goes in must come out as it went in.", "Yours was changed in place.", "x = x + …, not x += …")
    _follow(name, noting, x, tables, out)
    passed(name, "norms before the sublayers", "two skips", "in the right order")


def _follow(name: str, noting: dict[str, Noting], x: Tensor, tables: tuple[Tensor, Tensor], out: Any) -> None:
    normed = 2 * x + 1
    attended = normed.flip(1) - 3
    between = x + attended
    steps = (
        ("input_layernorm", x, "x as it came in", "The norm stands before the attention."),
        ("self_attn", normed, "what input_layernorm gives", "Pre-norm: each sublayer takes normalised vectors."),
        ("post_attention_layernorm", between, "x plus what self_attn gave", "The skip starts before the first norm."),
        ("mlp", between * between, "what post_attention_layernorm gives", "The second norm stands before the network."),
    )
    for attribute, want, words, look in steps:
        given = noting[attribute].given
        if not given:
            fail(name, f"{attribute} is given {words}.", "Yours never calls it.", look)
        if not close(given[0], want, 1e-3):
            fail(name, f"{attribute} is given {words}.", "Yours gives it something else.", look)
    came = noting["self_attn"].given[1:]
    if len(came) != 2 or not all(close(one, table) for one, table in zip(came, tables, strict=True)):
        fail(
            name,
            "self_attn is given cos and sin as well.",
            "Yours gives it something else.",
            "self.self_attn(…, cos, sin)",
        )
    if not close(out, between + (between * between).cos() + 5, 1e-3):
        look = "The second skip starts behind the first addition."
        fail(name, "the block gives the first sum plus what mlp gave.", "Yours gives something else.", look)

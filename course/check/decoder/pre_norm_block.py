"""One pre-norm block of the decoder."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.both_ways import meaning
from course.check.layers_made import fed_to
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects
from course.decoder_parts import ready_causal_attention

B, T, DIM, HEADS = 2, 5, 12, 3


@undisturbed
def pre_norm_block(kind: Any) -> None:
    """Norm, attention, add; norm, feed-forward network, add. Judged with ready-made attention."""
    name = "pre_norm_block"
    given: list[tuple[Tensor, ...]] = []

    def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        given.append((query.detach(), key.detach(), value.detach()))
        return ready_causal_attention(query, key, value)

    with meaning(getattr(kind.forward, "__globals__", {}), {"causal_attention": attention}):
        with running(name, "making a block", "The layers are given: leave __init__ out."):
            block = kind(SimpleNamespace(dim=DIM, heads=HEADS)).eval()
        _check_sum(name, block)
        given.clear()
        _check_parts(name, block, given)
    passed(name, "both sublayers add to what comes in", "each norm comes first", "no look ahead")


def _check_sum(name: str, block: Any) -> None:
    x = torch.randn(B, T, DIM)
    check_side_effects(name, block, x, weights=list(block.parameters()))

    def run(given: Tensor) -> Tensor:
        with running(name, f"x of shape ({B}, {T}, {DIM})", "Print the shape after every step."):
            output = block(given)
        same_shape(name, "the output", output, (B, T, DIM), "(batch, tokens, dim)")
        result: Tensor = output
        return result

    later = x.clone()
    later[:, 3:] = torch.randn(B, 2, DIM)
    if not close(run(later)[:, :3], run(x)[:, :3]):
        fail(name, "a later token must not change an earlier one's result.", "In yours it does.", "causal_attention")
    first, last = (block.out.weight, block.out.bias), (block.mlp[-1].weight, block.mlp[-1].bias)
    kept = [weight.clone() for weight in (*first, *last)]
    for weights, other, words in ((last, first, "attention"), (first, last, "the feed-forward network")):
        for weight, value in zip((*first, *last), kept, strict=True):
            weight.copy_(value)
        for weight in weights:
            weight.zero_()
        added, scaled = run(x) - x, run(3 * x) - 3 * x
        if close(added, torch.zeros_like(x)):
            fail(name, f"{words} must add something to its input.", "In yours nothing is added.", "x = x + …")
        if not close(added, scaled, 1e-2):
            fail(
                name,
                f"the norm comes before {words}, and what comes in is added as it is: three times the input, and "
                f"{words} adds the same.",
                "Yours adds something else.",
                "x + sublayer(norm(x)): two norms, two skips",
            )
        for weight in other:
            weight.zero_()
        if not close(run(x), x):
            fail(
                name,
                "where both sublayers give 0, the block gives what it was given.",
                "Yours gives something else.",
                "Nothing is done to x itself, not even a norm.",
            )
    for weight, value in zip((*first, *last), kept, strict=True):
        weight.copy_(value)


def _check_parts(name: str, block: Any, given: list[tuple[Tensor, ...]]) -> None:
    """What attention and the second norm are given. given: filled where the block calls causal_attention"""
    x = torch.randn(B, T, DIM)
    entered: list[Tensor] = []
    fed_to(block.norm_2, entered)
    block(x)
    if given:
        same_shape(name, "the query", given[0][0], (B, HEADS, T, DIM // HEADS), "(batch, heads, tokens, dim_per_head)")
        parts = [block.split_heads(part) for part in block.to_qkv(block.norm_1(x)).chunk(3, -1)]
        for words, got, want in zip(("query", "key", "value"), given[0], parts, strict=True):
            if not close(got, want):
                look = "First query, then key, then value; split_heads cuts each into heads."
                fail(name, f"the {words} that attention gets is a third of to_qkv.", "Yours is another one.", look)
    block.mlp[-1].weight.zero_()
    block.mlp[-1].bias.zero_()
    if not entered or not close(entered[0], block(x)):
        fail(
            name, "norm_2 reads the sum of x and attention.", "Yours reads something else.", "One step after the other."
        )

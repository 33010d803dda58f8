"""``GroupedQueryAttention``, by what must be true of it."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, same_shape
from course.check.decoder._modern import check_weights, made, run, turned
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects

BATCH, TOKENS, DIM, HEADS, KV_HEADS = 2, 5, 24, 6, 2
SIZE = DIM // HEADS


@undisturbed
def grouped_query_attention(kind: Any) -> None:
    """Causal attention in which neighbouring query heads share keys and values, with rotated queries and keys."""
    name = "grouped_query_attention"
    attention = made(name, kind, DIM, HEADS, KV_HEADS)
    sizes = {"q_proj": DIM, "k_proj": KV_HEADS * SIZE, "v_proj": KV_HEADS * SIZE, "o_proj": DIM}
    check_weights(name, attention, {layer: (rows, DIM) for layer, rows in sizes.items()})
    x = torch.randn(BATCH, TOKENS, DIM)
    angles = torch.arange(TOKENS)[:, None] * torch.tensor([1.0, 0.1])
    weights = list(attention.parameters())
    check_side_effects(name, lambda x: run(name, attention, x, *turned(angles)), x, weights=weights)
    out = run(name, attention, x, *turned(angles))
    same_shape(name, "the output", out, (BATCH, TOKENS, DIM), "(batch, tokens, dim)", "Are the heads merged again?")
    _causal(name, attention, x, angles, out)
    _positions(name, attention, x, angles, out)
    _groups(name, attention, x, angles)
    _scaled(name, kind)
    passed(name, "no look ahead", "queries and keys turned", "neighbours share keys and values", "scaled by √head_size")


def _causal(name: str, attention: Any, x: Tensor, angles: Tensor, out: Tensor) -> None:
    changed = x.clone()
    changed[:, -1] += 3
    after = run(name, attention, changed, *turned(angles))
    if not close(after[:, :-1], out[:, :-1]):
        look = "Scores above the diagonal become minus infinity before the softmax over the keys."
        fail(name, "a token does not see later tokens.", "In yours a change of the last token changes others.", look)
    if not torch.isfinite(out).all():
        fail(name, "the output must be finite.", "Yours has nan or inf.", "Each token sees itself.")


def _positions(name: str, attention: Any, x: Tensor, angles: Tensor, out: Tensor) -> None:
    if close(run(name, attention, x, *turned(3 * angles)), out):
        fail(name, "positions matter.", "Yours gives the same for other angles.", "rotate(…, cos, sin)")
    alone = run(name, attention, x[:, :1], *turned(angles[:1]))
    if not close(run(name, attention, x[:, :1], *turned(angles[3:4])), alone):
        look = "Positions decide who looks where, not what is seen."
        fail(name, "values are not turned: one token alone gives the same at every place.", "Yours changes.", look)
    if not close(run(name, attention, x, *turned(angles + angles[2])), out):
        came = "In yours all places moved by two change the result."
        fail(name, "only distances count.", came, "Queries and keys are both turned.")


def _groups(name: str, attention: Any, x: Tensor, angles: Tensor) -> None:
    attention.o_proj.weight.copy_(torch.eye(DIM))
    before = run(name, attention, x, *turned(angles))
    attention.v_proj.weight[SIZE:] += 1  # the second head of keys and values
    moved = (run(name, attention, x, *turned(angles)) - before).abs().unflatten(-1, (HEADS, SIZE)).amax(
        (0, 1, 3)
    ) > 1e-5
    if moved.tolist() != [False] * 3 + [True] * 3:
        came = f"In yours it reaches query heads {[head for head in range(HEADS) if moved[head]]}."
        look = "repeat_interleave, not repeat: 0, 0, 0, 1, 1, 1. Then the heads go behind the tokens and are merged."
        fail(
            name, "with 6 query heads and 2 of keys and values, the second of the two serves heads 3, 4, 5.", came, look
        )


def _scaled(name: str, kind: Any) -> None:
    attention = made(name, kind, 8, 2, 2)
    for layer in (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj):
        layer.weight.copy_(torch.eye(8))
    x = torch.tensor([[[0.0] * 8, [2.0] + [0.0] * 7]])
    weight = float(run(name, attention, x, *turned(torch.zeros(2, 2)))[0, 1, 0]) / 2
    want = 1 / (1 + math.exp(-2))
    if abs(weight - want) > 1e-3:
        came = f"Yours gives it {weight:.3g}."
        fail(name, f"scores of 0 and 4/√4 give the second key a weight of {want:.3g}.", came, "√head_size, not √dim.")

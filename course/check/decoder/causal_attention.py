"""Attention that does not look ahead."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import axis_that_sums_to_one, close, fail, finite, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects

B, H, T, D = 2, 3, 5, 6
AXES = ("batch", "heads", "queries", "keys")


@undisturbed
def causal_attention(function: Any) -> None:
    """Each token mixes the values of itself and of earlier tokens, with weights that sum to 1."""
    name = "causal_attention"
    query, key, value = torch.randn(3, B, H, T, D)

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        with running(name, f"query, key and value of shape ({B}, {H}, {T}, {D})", "Print the shape after every step."):
            output = function(query, key, value)
        same_shape(name, "the output", output, tuple(value.shape), "(batch, heads, tokens, dim_per_head)")
        result: Tensor = output
        return result

    check_side_effects(name, attend, query, key, value)
    one_each = torch.eye(T, D).expand(B, H, T, D)  # values that show the weights
    weights = attend(query, key, one_each)[..., :T]
    finite(name, "the output", weights, "0 times infinity is nan; a row must never be masked as a whole.")
    ahead = float(weights.triu(1).abs().max())
    if ahead > 1e-6:
        came = (
            "Yours sees nothing but later tokens and itself: the triangle is turned round."
            if float(weights.tril(-1).abs().max()) < 1e-6
            else f"Yours gives later tokens weights of up to {ahead:.2g}."
        )
        look = "What must a score be, for the softmax to make exactly 0 of it? And does that happen before the softmax?"
        fail(name, "a token must not see later ones.", came, look)
    if not close(weights.sum(-1), torch.ones(B, H, T)):
        axis = axis_that_sums_to_one(weights, AXES)
        came = f"Yours sum to 1 over {axis}." if axis else f"Yours sum to {float(weights[0, 0, -1].sum()):.3g}."
        fail(name, "each query's weights must sum to 1 over the keys (last axis).", came, "Mask first, then softmax.")
    if not bool((weights.diagonal(dim1=-2, dim2=-1) > 1e-6).all()):
        fail(name, "a token sees itself, too.", "In yours it does not.", "Where does the triangle begin?")
    gap = (weights[..., 1, 0] / weights[..., 1, 1]).log()
    plain = (query[..., 1, :] * (key[..., 0, :] - key[..., 1, :])).sum(-1)
    if not close(gap, plain / D**0.5):
        came = "Yours are not divided at all." if close(gap, plain) else "Yours are something else."
        fail(name, "the scores are dot products divided by √dim_per_head.", came, "query @ keyᵀ / √dim_per_head")
    finite(name, "the output for large scores", attend(1000 * query, key, value), "torch's own softmax does no harm.")
    passed(name, "no look ahead", "the weights sum to 1", "scores divided by √dim_per_head")

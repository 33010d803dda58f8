"""Notebook 2, part 3: the weights."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import axis_that_sums_to_one, close, fail, finite, passed
from course.check.distilbert._blocks import AXES, TOKENS, one_hot_tokens, searching_block, weights_of
from course.check.distilbert._small import HEAD_SIZE, HEADS
from course.check.modules import undisturbed


@undisturbed
def attention_weights(kind: Any) -> None:
    """Each query spreads a weight of 1 over the keys."""
    name = "attention_weights"
    block = searching_block(name, kind)
    hidden_states = one_hot_tokens() + 0.1 * torch.randn(2, TOKENS, HEADS * HEAD_SIZE)
    weights = weights_of(name, block, hidden_states)
    axis = axis_that_sums_to_one(weights, AXES)
    rows_are_right = close(weights.sum(-1), torch.ones(weights.shape[:-1]), 1e-4)
    if not rows_are_right:
        row = float(weights[1, 1, 0].sum())
        came = f"Yours sum to 1 over {axis}." if axis else f"The first row of yours sums to {row:.3g}."
        look = (
            "Is the softmax told which axis to use?" if axis else "Scores become weights by a softmax: was it applied?"
        )
        fail(name, "each query's weights must sum to 1 over the keys (last axis).", came, look)
    if float(weights.min()) < 0:
        fail(
            name,
            "no weight is negative.",
            f"Your smallest is {float(weights.min()):.3g}.",
            "A softmax never gives such a number.",
        )
    huge = weights_of(name, block, 300 * hidden_states)
    finite(
        name,
        "weights of very large scores",
        huge,
        "torch's own softmax takes away the largest score first; exp alone overflows.",
    )
    best = float(huge[1, 1:].amax(-1).min())
    if best < 0.99:
        fail(
            name,
            "a key that fits far better than all the others must get nearly all of the weight.",
            f"In yours it gets {best:.2f}.",
            "Do the weights come from the scores, by one softmax and not by two?",
        )
    passed(name, "each row sums to 1 over the keys", "none is negative", "large scores do no harm")

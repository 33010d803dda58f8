"""Notebook 1: attention with a mask."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, finite, passed, same_shape
from course.check.encoder_lab._attention_properties import attention_properties, rows_sum_to_one, run
from course.check.modules import undisturbed


@undisturbed
def masked_attention(function: Any) -> None:
    """The same attention, and with a mask no look at what it hides."""
    name = "masked_attention"
    attention_properties(name, lambda q, k, v: run(name, function, q, k, v))
    query, key, eye = torch.randn(2, 5, 4), torch.randn(2, 5, 4), torch.eye(5).expand(2, 5, 5)
    mask = torch.ones(5, 5).tril()[None]
    weights = run(name, function, query, key, eye, mask)
    same_shape(name, "the output", weights, (2, 5, 5), "(batch, queries, size of a value)")
    finite(name, "the output", weights, "0 times infinity is nan. Is a whole row masked, or the mask flipped?")
    hidden = float(weights.triu(1).abs().max())
    if hidden > 1e-6:
        shown = float(weights.tril(-1).abs().max())
        came = (
            "The mask is flipped: only what it hides is seen."
            if shown < 1e-6
            else f"Weights of up to {hidden:.2g} are left there."
        )
        fail(
            name,
            "where the mask is 0, the weight must be 0.",
            f"{came}",
            "What must a score be, for the softmax to make exactly 0 of it? And does that happen before the softmax?",
        )
    rows_sum_to_one(name, weights, "The mask must come before the softmax: then the other weights share what is left.")
    whole = run(name, function, query, key, eye, torch.ones(1, 5, 5))
    if not close(whole, run(name, function, query, key, eye)):
        fail(name, "a mask of ones hides nothing and must change nothing.", "It changes your output.")
    passed(name, "without a mask as before", "what is hidden gets weight 0", "the rest still sums to 1")

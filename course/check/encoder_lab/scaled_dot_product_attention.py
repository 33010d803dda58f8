"""Notebook 1: attention in one function."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import passed, same_shape
from course.check.encoder_lab._attention_properties import attention_properties, run
from course.check.modules import undisturbed


@undisturbed
def scaled_dot_product_attention(function: Any) -> None:
    """Scores, weights and weighted sum in one function."""
    name = "scaled_dot_product_attention"
    attention_properties(name, lambda q, k, v: run(name, function, q, k, v))
    given = torch.randn(2, 7, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
    look = "Every query has an output, however many keys there are."
    same_shape(name, "the output for 7 queries", run(name, function, *given), (2, 7, 6), "(batch, n, d_v)", look)
    passed(name, "shapes", "each query's weights sum to 1", "scaled once", "values are mixed by the weights")

"""Notebook 1: from scores to weights."""

from __future__ import annotations

from math import log
from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed, same_shape
from course.check.encoder_lab._ladder import rows_sum_to_one, run
from course.check.modules import undisturbed


@undisturbed
def attention_weights(function: Any) -> None:
    """Scores become weights: none negative, each row together 1."""
    name = "attention_weights"
    scores = torch.randn(2, 3, 5)
    weights = run(name, function, scores)
    same_shape(name, "weights", weights, (2, 3, 5), "(batch, queries, keys)", "As many weights as scores.")
    rows_sum_to_one(name, weights)
    quarter = run(name, function, torch.tensor([[[0.0, log(3.0)], [5.0, 5.0]]]))
    if not close(quarter[0], torch.tensor([[0.25, 0.75], [0.5, 0.5]])):
        fail(
            name,
            "scores of 0 and log 3 must make weights of 1/4 and 3/4, equal scores equal weights.",
            f"Yours are {_row(quarter[0, 0])} and {_row(quarter[0, 1])}.",
            "Scores become weights by one softmax.",
        )
    finite(
        name,
        "weights of very large scores",
        run(name, function, 1000 * scores),
        "torch's own softmax takes away the largest score first; exp alone overflows.",
    )
    passed(name, "each row sums to 1 over the keys", "large scores do no harm")


def _row(row: Tensor) -> str:
    return "(" + ", ".join(f"{number:.3g}" for number in row.tolist()) + ")"

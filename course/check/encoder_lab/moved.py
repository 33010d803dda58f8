"""Notebook 2: how far the tokens' vectors moved."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import as_array, close, fail, passed, running, same_shape
from course.check.modules import undisturbed


@undisturbed
def moved(function: Any) -> None:
    """How far the tokens' vectors are from where they were, layer by layer."""
    name = "moved"
    original = torch.randn(3, 4, 6)
    order = torch.tensor([2, 0, 3, 1])
    step = torch.zeros(6)
    step[0], step[1] = 3.0, -4.0  # a step of length 5
    far = _run_moved(
        name, function, original, original[:, order] + torch.tensor([1.0, 2.0, 3.0, 2.0])[:, None] * step, order
    )
    same_shape(name, "the distances", far, (3,), "(layers,)", "One number a layer.")
    near = _run_moved(name, function, original, original[:, order], order)
    if not close(near, torch.zeros(3)):
        fail(
            name,
            "where every token keeps its vector, and only its place changes, nothing has moved.",
            f"Yours has moved by {float(near[0]):.3g}.",
            "Token i of the shuffled sentence is token order[i] of the original.",
        )
    if not close(far, torch.full((3,), 10.0)):
        fail(
            name,
            "tokens that move by 5, 10, 15 and 10 move by 10 on average.",
            f"Yours is {float(far[0]):.3g}.",
            "The length of a difference, averaged over the tokens.",
        )
    passed(name, "tokens are compared with themselves", "averaged over the tokens")


def _run_moved(name: str, function: Any, original: Tensor, shuffled: Tensor, order: Tensor) -> Any:
    with running(name, "moved(original, shuffled, order)", "original and shuffled are (layers, tokens, dim)."):
        return as_array(function(original.clone(), shuffled.clone(), order.clone()))

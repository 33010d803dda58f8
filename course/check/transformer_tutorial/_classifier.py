"""A small ``Transformer``."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from course.check.base import finite, running, same_shape
from course.check.transformer_tutorial._calls import make

K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES = 6, 2, 3, 9, 11, 4


def small_model(name: str, student_class: Any) -> Any:
    return make(name, student_class, K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES).eval()


def run(name: str, model: Any, ids: Tensor) -> Tensor:
    with running(name, f"ids of shape (b, t) = {tuple(ids.shape)}", "Print the shape after every step."):
        out = model(ids)
    same_shape(
        name, "the output", out, (len(ids), CLASSES), "(b, classes)", "One vector per sentence must reach the head."
    )
    finite(name, "the output", out)
    result: Tensor = out
    return result

"""A student's class built for a check; whatever goes wrong is a failed check."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, running

#: Sizes of a small TransformerEncoder, no two of them equal, and ids for it: two sentences of three tokens.
ENCODER_SIZES = (11, 8, 6, 3, 10, 4)
IDS = torch.tensor([[3, 7, 1], [2, 5, 4]])


def make(name: str, student_class: Any, *sizes: Any) -> Any:
    """``student_class(*sizes)`` in eval mode; whatever goes wrong is a failed check."""
    label = getattr(student_class, "__name__", "the class")
    with running(name, f"{label}{sizes}", "Look at __init__."):
        module = student_class(*sizes)
    if not isinstance(module, nn.Module):
        fail(name, f"{label} must be an nn.Module.", f"It is a {type(module).__name__}.", "class …(nn.Module)")
    return module.eval()


def settled(name: str, output: Tensor, again: Tensor) -> None:
    if not close(again, output):
        fail(
            name,
            "in eval mode the same input gives the same output.",
            "Yours differs from call to call.",
            "nn.Dropout knows of eval mode; F.dropout has to be told.",
        )

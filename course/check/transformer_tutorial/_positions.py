"""The table of a ``PositionalEncoding``."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from course.check.base import fail, same_shape
from course.check.transformer_tutorial._calls import make

SIZE, LENGTH = 8, 40


def made_with_table(name: str, student_class: Any) -> tuple[Any, Tensor]:
    encoding = make(name, student_class, SIZE, max_len=LENGTH).eval()
    pe = getattr(encoding, "pe", None)
    if not isinstance(pe, Tensor):
        fail(name, "the module must have a tensor called pe.", f"Yours has {type(pe).__name__}.", "Look at __init__.")
    table = pe.detach().squeeze()
    same_shape(name, "pe", table, (LENGTH, SIZE), "(max_len, emb_size)", "One row for each position.")
    return encoding, table

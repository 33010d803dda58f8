"""Notebook 2: the heads that attend to [SEP] most."""

from __future__ import annotations

from typing import Any

from course.check.base import fail, running
from course.check.choice_questions import recorded


def separator_heads(heads: Any) -> None:
    """One head per layer. Grading says which ones are right."""
    name = "separator_heads"
    with running(name, "a list of six numbers"):
        numbers = [int(head) for head in heads]
    if len(numbers) != 6 or not all(0 <= head < 12 for head in numbers):
        fail(name, "six numbers are expected, one head (0 to 11) for each layer.", f"Yours are {numbers}.")
    recorded(name, "six heads, one per layer")

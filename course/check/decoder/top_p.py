"""The nucleus, by what must be true of it."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import passed
from course.check.decoder._generation import filtered, same_words
from course.check.modules import undisturbed


@undisturbed
def top_p(function: Any) -> None:
    """The fewest likeliest words that have at least p together, in their old proportions."""
    name = "top_p"
    given = torch.tensor([[0.15, 0.4, 0.15625, 0.29375], [0.625, 0.05, 0.125, 0.2]])
    look = "Sort, and keep a word while the sum of the likelier ones is below p. Then take it back to its place."
    cases: tuple[tuple[float, list[list[int]]], ...] = (
        (0.65, [[1, 3], [0, 3]]),
        (0.75, [[1, 2, 3], [0, 3]]),
        (0.3, [[1], [0]]),
        (0.01, [[1], [0]]),
        (1.0, [[0, 1, 2, 3], [0, 1, 2, 3]]),
    )
    for p, want in cases:
        hint = "One word at least is left." if p == 0.01 else look
        same_words(name, filtered(name, function, given, p, "p"), want, given, f"p = {p:g}", hint)
    exact = torch.tensor([[0.125, 0.5, 0.125, 0.25]])
    hint = "0.5 and 0.25 are at least 0.75: the next word goes."
    same_words(name, filtered(name, function, exact, 0.75, "p"), [[1, 3]], exact, "p = 0.75", hint)
    passed(name, "the fewest words with p together", "a nucleus for each row", "one word at least")

"""Three answers read off the demonstration: their form. Whether they are right is graded."""

from __future__ import annotations

from typing import Any

from course.check.base import fail
from course.recorded import recorded

SPREADS = ("nearly equal", "one takes nearly all")


def bank_reading(heaviest: Any, nearest: Any, spread: Any) -> None:
    """Two single words and one of two phrases."""
    name = "bank_reading"
    for what, answer in (("heaviest", heaviest), ("nearest", nearest), ("spread", spread)):
        if answer is None or answer == "":
            fail(name, f"{what} needs an answer.", "It is still empty.", "Run the demonstration above and read it off.")
        if not isinstance(answer, str):
            fail(name, f"{what} is a text.", f"Yours is {type(answer).__name__}.", 'Write it in quotes: "word".')
    for what, answer in (("heaviest", heaviest), ("nearest", nearest)):
        if len(answer.split()) != 1:
            fail(name, f"{what} is a single word.", f"Yours is {answer!r}.")
    if " ".join(spread.lower().split()).strip(".\"'") not in SPREADS:
        fail(name, f"spread is one of {' and '.join(map(repr, SPREADS))}.", f"Yours is {spread!r}.")
    recorded(name, "three answers in the right form")

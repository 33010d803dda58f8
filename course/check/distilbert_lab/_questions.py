"""Questions with a fixed set of answers: whether each is answered at all. Grading says which are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.check.base import fail
from course.recorded import recorded


def choices(name: str, answers: Any, options: Sequence[Sequence[str]]) -> None:
    """One answer per statement, each of them one that can be chosen."""
    if not isinstance(answers, list | tuple) or len(answers) != len(options):
        count = len(answers) if isinstance(answers, list | tuple) else f"a {type(answers).__name__}"
        fail(name, f"a list of {len(options)} answers is expected, one for each statement.", f"Yours: {count}.")
    for number, (answer, known) in enumerate(zip(answers, options, strict=True), start=1):
        if str(answer).strip().lower() not in known:
            fail(name, f"answer {number} must be one of {', '.join(known)}.", f"Yours is {answer!r}.")
    recorded(name, f"{len(options)} answers, each one that can be chosen")

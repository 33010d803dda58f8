"""Questions with answers to choose from: whether each is answered at all. Grading says which are right."""

from collections.abc import Callable, Sequence
from typing import Any

from course.check.base import fail


def recorded(name: str, what: str) -> None:
    """Print that an answer was read, without a ✓. Whether it is right is said after grading, with the reason."""
    print(f"– {name}: recorded, {what}. This says nothing about right or wrong: the feedback does, with the reason.")


def choices(name: str, options: Sequence[Sequence[str]]) -> Callable[[Any], None]:
    """The check of a list with one answer per statement. options: for each of them, what can be chosen"""

    def check(answers: Any) -> None:
        if not isinstance(answers, list | tuple) or len(answers) != len(options):
            count = len(answers) if isinstance(answers, list | tuple) else f"a {type(answers).__name__}"
            fail(name, f"a list of {len(options)} answers is expected, one for each statement.", f"Yours: {count}.")
        for number, (answer, known) in enumerate(zip(answers, options, strict=True), start=1):
            if str(answer).strip().lower() not in known:
                fail(name, f"answer {number} must be one of {', '.join(known)}.", f"Yours is {answer!r}.")
        recorded(name, f"{len(options)} answers, each one that can be chosen")

    check.__name__ = check.__qualname__ = name
    return check


def choice(name: str, value: Any, allowed: str) -> None:
    """``value`` must be one of the letters of ``allowed``."""
    if not isinstance(value, str) or value.strip().lower() not in set(allowed):
        fail(name, f"one letter from {allowed[0]} to {allowed[-1]}, in quotes.", f"Yours is {value!r}.")
    recorded(name, f"your choice is {value.strip().lower()}")


def letters(name: str, value: Any, allowed: str) -> None:
    """``value`` must be a list of letters of ``allowed``, each at most once."""
    look = f'For instance ["{allowed[0]}"], with as many letters as you think are right.'
    if not isinstance(value, list | tuple) or not value:
        fail(name, "a list of letters.", f"Yours is {value!r}.", look)
    strange = [entry for entry in value if not isinstance(entry, str) or entry.strip().lower() not in set(allowed)]
    if strange or len(set(value)) != len(value):
        fail(name, f"letters from {allowed[0]} to {allowed[-1]}, each at most once.", f"Yours is {value!r}.", look)
    recorded(name, f"your choice is {', '.join(value)}")


def name(name: str, value: Any) -> None:
    """``value`` must be a name, in quotes."""
    if not isinstance(value, str) or not value.strip() or len(value) > 200:
        fail(name, "a name, in quotes.", f"Yours is {value!r:.60}.")
    recorded(name, f"your answer is {value.strip()}")

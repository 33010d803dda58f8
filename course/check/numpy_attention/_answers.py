"""Checks of written choices: can the answer be read? Whether it is right, the feedback says later, and why."""

from __future__ import annotations

from typing import Any

from course.check.base import fail
from course.recorded import recorded


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

"""The visible checks of an assignment, each with a time limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.check._rules import visible
from course.check.limits import limited


def checks(package: str, path: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """name -> check; package, path: ``__name__`` and ``__path__`` of the assignment's package."""
    return {name: limited(check) for name, check in visible.checks(package, path).items()}

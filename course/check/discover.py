"""The visible checks of an assignment, each with a time limit."""

from collections.abc import Callable, Sequence
from typing import Any

from course.check._rules import visible
from course.check.limits import limited


def checks(package: str, path: Sequence[str], *others: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """name -> check; package, path: ``__name__`` and ``__path__`` of the assignment's package.

    others: checks in modules that are not found by their names, because they hold several
    """
    found = {**visible.checks(package, path), **{check.__name__: check for check in others}}
    return {name: limited(check) for name, check in found.items()}

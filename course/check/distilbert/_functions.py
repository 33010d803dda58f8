"""What checks of plain functions share."""

from __future__ import annotations

from typing import Any

from course.check.base import fail


def is_function(name: str, function: Any) -> None:
    """Fails where something else than a function was passed."""
    if not callable(function):
        fail(name, "a function is expected.", f"A {type(function).__name__} came.", "Pass the function itself.")


def begun(name: str, function: Any, *given: Any) -> bool:
    """Whether a stretch goal was begun: it brings no points, and one that nobody began is no failure."""
    is_function(name, function)
    try:
        function(*given)
    except NotImplementedError:
        print(f"– {name}: not begun. It brings no points.")
        return False
    except Exception:  # the check calls it again, and says what went wrong
        pass
    return True

"""What checks of plain functions share."""

from __future__ import annotations

from typing import Any

from course.check.base import fail


def is_function(name: str, function: Any) -> None:
    """Fails where something else than a function was passed."""
    if not callable(function):
        fail(name, "a function is expected.", f"A {type(function).__name__} came.", "Pass the function itself.")

"""Stretch goals: they bring no points, and one that nobody began is no failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def begun(name: str, function: Callable[..., Any], *given: Any) -> bool:
    """Whether it was begun: the stub raises NotImplementedError. Any other error is for the check to tell."""
    try:
        function(*given)
    except NotImplementedError:
        print(f"– {name}: not begun. It brings no points.")
        return False
    except Exception:  # the check calls it again, and says what went wrong
        pass
    return True

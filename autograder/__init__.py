"""Grades notebooks. Hidden cells import :func:`reference` from here; everything else is the instructor's."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.testing import reference

__all__ = ["reference"]


def __getattr__(name: str) -> Any:
    """Import :mod:`autograder.testing` when it is asked for: NumPy would double the time that ``--help`` takes."""
    if name != "reference":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autograder.testing import reference

    return reference

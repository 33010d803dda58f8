"""What every check has in common: how it fails, how it passes, and shapes before values.

Imports no torch: the NumPy assignment is checked with the same words.
"""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

_NOT_THE_STUDENTS = ("site-packages", "dist-packages", "/lib/python", f"{Path(__file__).parents[1]}{os.sep}")


class CheckFailed(AssertionError):
    """A check that says what was expected, what came, and where to look; Jupyter shows just that."""

    def __init__(self, name: str, expected: str, came: str, look: str = "") -> None:
        self.name, self.expected, self.came, self.look = name, expected, came, look
        super().__init__("\n".join(line for line in (f"{name}: {expected}", came, look) if line))

    def _render_traceback_(self) -> list[str]:
        # IPython asks for this in place of forty lines of traceback; the cause comes last where there is one
        lines = [f"CheckFailed  {self}"]
        if self.__cause__ is not None:
            import traceback

            frames = traceback.extract_tb(self.__cause__.__traceback__)
            own = [frame for frame in frames if is_own(frame.filename)]
            lines += [
                "",
                *(f"  line {frame.lineno}, in {frame.name}: {frame.line or ''}" for frame in own[-3:]),
                f"  {type(self.__cause__).__name__}: {self.__cause__}",
            ]
        return lines


def fail(name: str, expected: str, came: str, look: str = "") -> NoReturn:
    """Raises CheckFailed: what was expected, what came, where to look."""
    raise CheckFailed(name, expected, came, look)


def passed(name: str, *what: str) -> None:
    """Print what was looked at and found right."""
    print(f"✓ {name}: " + ", ".join(what))


@contextmanager
def running(name: str, doing: str, look: str = "") -> Iterator[None]:
    """Turns whatever the student's code raises into a CheckFailed that says what was being done.

    A stub is told apart: the cell is simply not filled in yet.
    """
    try:
        yield
    except CheckFailed:
        raise
    except Exception as error:
        if is_stub(error):
            raise CheckFailed(
                name, "this part is not filled in yet.", "Replace 'raise NotImplementedError()' by your code."
            ) from error
        came = f"It stopped with {type(error).__name__}: {error}"
        raise CheckFailed(name, f"{doing} should work.", came, _hint_about(error) or look) from error


def is_stub(error: BaseException) -> bool:
    """Whether a ``raise`` in the student's own code raised this NotImplementedError.

    Libraries raise it for other reasons: torch does where a module has no ``forward``.
    """
    if not isinstance(error, NotImplementedError) or (trace := error.__traceback__) is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return is_own(code.co_filename) and code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def is_own(filename: str) -> bool:
    """Whether a file with code is the student's: a cell, or a file beside the notebook."""
    return not filename.startswith("<frozen") and not any(place in filename for place in _NOT_THE_STUDENTS)


def _hint_about(error: Exception) -> str:
    """Where to look, for an exception whose own words say what happened and not why; empty for all others."""
    module = re.search(r'Module \[(\w+)\] is missing the required "forward" function', str(error))
    if module is None:
        return ""
    if module[1] in ("ModuleList", "ModuleDict"):
        return f"An nn.{module[1]} cannot be called as a whole: go through the list with for."
    return f"Does class {module[1]} have a method called forward, indented below the class line?"


def same_shape(name: str, what: str, got: Any, want: tuple[int, ...], axes: str, look: str = "") -> None:
    """Fails unless ``got`` has the shape ``want``; ``axes`` names them, say ``(batch, tokens, dim)``."""
    if not hasattr(got, "shape"):
        fail(
            name,
            f"{what} must be an array of shape {want} = {axes}.",
            f"Yours is {_article(type(got).__name__)}.",
            look,
        )
    if tuple(got.shape) != tuple(want):
        fail(name, f"{what} must have shape {want} = {axes}.", f"Yours has {tuple(got.shape)}.", look)


def finite(name: str, what: str, got: Any, look: str = "") -> None:
    """Fails where a number is nan or infinite."""
    array = to_numpy(got)
    bad = int((~np.isfinite(array)).sum())
    if bad:
        fail(name, f"{what} must be finite numbers.", f"{bad} of {array.size} are nan or inf.", look)


def as_array(value: Any) -> Any:
    """A list or tuple of numbers as an array, which is as right; anything else as it is."""
    if not isinstance(value, list | tuple):
        return value
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):  # rows of several lengths, or no numbers
        return value
    return array


def close(got: Any, want: Any, atol: float = 1e-4) -> bool:
    """True where the shapes agree and every number differs by less than ``atol`` (nan never agrees)."""
    first, second = to_numpy(got), to_numpy(want)
    return first.shape == second.shape and bool(np.allclose(first, second, atol=atol, rtol=1e-3))


def to_numpy(value: Any) -> np.ndarray:
    """A NumPy array of a tensor, array or nested list."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.asarray(value)


def axis_that_sums_to_one(weights: Any, names: tuple[str, ...]) -> str | None:
    """Which axis the weights sum to 1 over, in words; None where there is none."""
    array = to_numpy(weights)
    for axis in reversed(range(array.ndim)):
        if np.allclose(array.sum(axis=axis), 1, atol=1e-4):
            return f"axis {axis}, the {names[axis]}"
    return None


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"

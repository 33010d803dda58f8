"""What every check has in common: how it fails, how it passes, and shapes before values.

Imports no torch: the NumPy assignment is checked with the same words.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from course.check._rules.rules import DTYPE
from course.check._rules.values import NotComparable as NotComparable
from course.check._rules.visible import CheckFailed as CheckFailed
from course.check._rules.visible import is_own as is_own
from course.check._rules.visible import is_stub as is_stub
from course.check._rules.visible import passed as passed
from course.check._rules.visible import running as running


def fail(name: str, expected: str, came: str, look: str = "") -> NoReturn:
    """Raises CheckFailed: what was expected, what came, where to look."""
    raise CheckFailed(name, expected, came, look)


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


def in_float32(name: str, what: str, got: Any) -> None:
    """Fails unless ``got`` has the dtype that everything around it has in a model."""
    if str(got.dtype) != "torch.float32":
        fail(name, f"{what} must be float32, as everything around it is.", f"Yours is {got.dtype}.", DTYPE.hint)


def finite(name: str, what: str, got: Any, look: str = "") -> None:
    """Fails where a number is nan or infinite."""
    array = to_numpy(got)
    bad = int((~np.isfinite(array)).sum())
    if bad:
        fail(name, f"{what} must be finite numbers.", f"{bad} of {array.size} are nan or inf.", look)


def several(returned: Any, *names: str) -> Any:
    """What a call of the student's code returned, where it should be one thing for each name.

    Raises NotComparable where another number of things came back.
    """
    if isinstance(returned, tuple | list) and len(returned) == len(names):
        return returned
    came = f"{len(returned)} things" if isinstance(returned, tuple | list) else f"one {type(returned).__name__}"
    raise NotComparable(f"{len(names)} things should come back, {' and '.join(names)}, but {came} came back.")


def tried(call: Callable[[], Any]) -> Any:
    """What a call gives on which no points depend; None where it fails."""
    try:
        return call()
    except Exception:
        return None


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

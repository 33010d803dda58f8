"""Tensors of a student's model as arrays to draw, or a sentence that says why not."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course.errors import CourseError

Array = NDArray[np.float64]


def to_array(values: Any, name: str, shape: Sequence[str]) -> Array:
    """Tensor, array or list of these -> array with as many axes as ``shape`` names.

    A leading axis of length 1, a batch of one sentence, is taken off where it is one too many.
    Raises CourseError where the number of axes differs, or a value is not finite.
    """
    if isinstance(values, dict):
        values = [values[key] for key in sorted(values)]
    if isinstance(values, list | tuple):
        array = np.stack([to_array(value, name, shape[1:]) for value in values])
    else:
        array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, dtype=np.float64)
    if array.ndim == len(shape) + 1 and array.shape[0] == 1:
        array = array[0]
    wanted = f"({', '.join(shape)})"
    if array.ndim != len(shape):
        raise CourseError(f"{name} must have the axes {wanted}, but has shape {array.shape}.")
    if not np.isfinite(array).all():
        raise CourseError(f"{name} must hold finite numbers, but {int((~np.isfinite(array)).sum())} are not.")
    return array


def check_tokens(tokens: Sequence[str], length: int, name: str) -> list[str]:
    """The tokens as a list. Raises CourseError unless there is one for each position."""
    if len(tokens) != length:
        raise CourseError(
            f"There are {len(tokens)} tokens, but {name} has {length} positions: one token each is needed."
        )
    return [str(token) for token in tokens]

"""What may be handed over, and what an author may expect: how each kind of value is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from .text import TEXT, text_array

#: Begins the name, after :data:`TEXT`, under which the keys of a dictionary are stored.
KEYS = "keys of "
#: As many as fit into what is read of a submission's answers to one case.
MAX_ENTRIES = 100


class NotComparable(TypeError):
    """What the student's code gave is of another kind than what was asked for: nothing in it can be compared."""


def as_arrays(name: str, value: Any) -> dict[str, np.ndarray]:
    """Name under which it is stored -> array. Text and lists of texts travel as JSON bytes under ``text:name``.

    A dictionary is stored value by value, under ``name[key]``, and so are its keys. Raises NotComparable.
    """
    if not isinstance(value, Mapping):
        return dict([_as_array(name, value)])
    if len(value) > MAX_ENTRIES:
        raise NotComparable(f"{name}: a dictionary with {len(value):,} entries; at most {MAX_ENTRIES} are compared.")
    stored = {f"{TEXT}{KEYS}{name}": text_array(sorted(map(str, value)))}
    for key, entry in value.items():
        if isinstance(entry, Mapping):
            raise NotComparable(f"{name}[{key!r}]: a dictionary of numbers, texts and arrays, none of dictionaries")
        stored |= dict([_as_array(f"{name}[{key}]", entry)])
    return stored


def is_text(value: Any) -> bool:
    """Whether a value is a text or a list of texts, however deep."""
    return isinstance(value, str) or (isinstance(value, list | tuple) and any(map(is_text, value)))


def is_plain(value: Any) -> bool:
    """Whether an input goes to the student's function as it is: a number, text, list with texts or dictionary."""
    return type(value) in (bool, int, float) or is_text(value) or isinstance(value, Mapping)


def comes_back(value: Any) -> bool:
    """Whether such an input is the same after it was stored, as JSON."""
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


def _as_array(name: str, value: Any) -> tuple[str, np.ndarray]:
    """-> (name, contiguous array)"""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    if is_text(value):
        return TEXT + name, text_array(value)
    array = np.asarray(value)
    if array.dtype.kind in "US":
        raise NotComparable(f"{name}: a list of texts is expected, not a NumPy array: .tolist() makes one of it.")
    if array.dtype.kind not in "fiub":
        raise NotComparable(f"{name}: expected a tensor or array of numbers, but it is {type(value).__name__}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:  # longdouble: safetensors knows no such numbers
        array = array.astype(np.float64)
    return name, np.array(array, order="C", subok=False)  # a copy: what was handed over stays as it was

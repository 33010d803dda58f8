"""What may be handed over, and what an author may expect: how each kind of value is stored.

A text, or a list of texts, travels as an array, and is read back with bounds.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

#: Prefix of an array's name that holds text: UTF-8 JSON as bytes.
TEXT = "text:"
#: The array that names the ready-made parts that ran for the answers.
READY_MADE = f"{TEXT}ready-made"
#: The longest of our own exercises asks for a few hundred bytes.
MAX_TEXT_BYTES = 32 << 10
MAX_TEXT_DEPTH = 8


def text_array(value: Any) -> np.ndarray:
    """Text, or a list of texts, as the bytes under which it travels."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def read_text(array: np.ndarray | None) -> Any | None:
    """The text or list of texts that an array holds; None where it holds none that is short and flat enough."""
    if array is None or array.dtype != np.uint8 or array.ndim != 1 or array.nbytes > MAX_TEXT_BYTES:
        return None
    try:
        text = array.tobytes().decode()
        return json.loads(text) if depth(text) <= MAX_TEXT_DEPTH else None
    except ValueError:
        return None


def depth(text: str) -> int:
    """How deep brackets are nested in a JSON text, those in strings left out. Known before it is parsed."""
    deepest = level = 0
    inside = escaped = False
    for character in text:
        if inside:
            inside = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            inside = True
        elif character in "[{":
            level += 1
            deepest = max(deepest, level)
        elif character in "]}":
            level -= 1
    return deepest


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


def drawn(value: Any) -> dict[str, Any]:
    """What axes of matplotlib, or the first of a figure, show; empty for all that is no drawing.

    ``x`` and ``y``: of its curves, else of its bars or points: (points,) of one, (curves, points) of several.
    ``title``, ``xlabel``, ``ylabel``, ``xscale``, ``yscale``: texts; ``legend``: a list of them.
    Raises NotComparable where curves differ in length.
    """
    axes = value.axes[0] if hasattr(value, "savefig") and value.axes else value
    if not hasattr(axes, "get_lines"):
        return {}
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(axes.figure)  # else it is shown a second time
    curves = [line.get_xydata().T for line in axes.get_lines()]
    bars = [[bar.get_x() + bar.get_width() / 2, bar.get_height()] for bar in axes.patches]
    curves = curves or ([np.array(bars).T] if bars else [dots.get_offsets().T for dots in axes.collections])
    if len({curve.shape for curve in curves}) > 1:
        raise NotComparable("the curves have different numbers of points.")
    x, y = (np.array([curve[axis] for curve in curves], float) for axis in (0, 1))
    words = {name: getattr(axes, f"get_{name}")() for name in ("title", "xlabel", "ylabel", "xscale", "yscale")}
    legend = axes.get_legend()
    listed = [text.get_text() for text in legend.get_texts()] if legend else []
    return {"x": x[0] if len(x) == 1 else x, "y": y[0] if len(y) == 1 else y, **words, "legend": listed or [""]}


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

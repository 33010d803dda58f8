"""A value as it came to a test, written down: JSON that holds what can be compared, and nothing that could answer.

Written by the methods of the base classes alone: no class of a student's is asked what its object holds.
"""

import hashlib
import json
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from autograder.remote.handle import isinstance_of_meta, link_of
from autograder.remote.kinds import kind_of
from autograder.remote.names import MAIN, name_of
from autograder.remote.objects import read_state
from autograder.remote.plain import to_text

#: A tag, then what it is of: ``["int", 3]``, ``["array", [2], "f8", "AAAA..."]``, ``["list", [...]]``.
Snapshot = list[Any]

#: Elements of an array or a list from which on a digest takes their place, and how deep containers may be nested.
MAX_ELEMENTS = 20_000
_MAX_DEPTH = 60
_MAX_TEXT, _MAX_BITS = 100_000, 10_000
_PROJECTIONS = 8
_LIBRARIES = ("numpy", "torch", "pandas")
_VIEWS: tuple[Any, ...] = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
_LISTS: tuple[Any, ...] = (list, tuple, deque)
_SETS: tuple[Any, ...] = (set, frozenset)


def snapshot(value: Any) -> Snapshot:
    """What came, as it is now. Raises nothing."""
    try:
        return _of(value, frozenset())
    except Exception as error:  # a library's object that cannot be read
        return ["unreadable", type(value).__name__, type(error).__name__]


def raised(error: BaseException) -> Snapshot:
    """An exception that came in the place of a value: its first class that is nobody's own."""
    return ["raised", _class_of(error)]


def _of(value: Any, within: frozenset[int]) -> Snapshot:
    link = link_of(value)
    if link is not None:
        if "module" in link.about:
            return ["module", str(link.about["module"])]
        if isinstance_of_meta(value) or "k" in link.about:
            return ["object"]
        return ["own", _data(value, within)]
    return _data(value, within)


def _data(value: Any, within: frozenset[int]) -> Snapshot:
    bases = type.__getattribute__(type(value), "__mro__")
    if value is None or value is Ellipsis or value is NotImplemented:
        return ["constant", repr(value)]
    if Enum in bases:
        return ["enum", type(value).__name__, _of(object.__getattribute__(value, "_value_"), within)]
    if np.generic in bases:
        return _array(np.asarray(value), within)
    for cls, write in _SCALARS:
        if cls in bases:
            return write(value)
    if id(value) in within or len(within) > _MAX_DEPTH:
        return ["again"]
    return _composed(value, bases, within | {id(value)})


def _whole(number: int) -> Snapshot:
    """Python writes no number of thousands of digits in decimals."""
    return ["int", number] if number.bit_length() <= _MAX_BITS else ["large int", hex(number)]


def _text(value: Any) -> Snapshot:
    text = str.__str__(value)
    return ["text", text] if len(text) <= _MAX_TEXT else ["long text", len(text), _sha(text)]


_SCALARS: tuple[tuple[Any, Any], ...] = (
    (int, lambda value: _whole(int.__int__(value))),
    (float, lambda value: ["float", float.__float__(value)]),
    (complex, lambda value: ["complex", complex.__complex__(value).real, complex.__complex__(value).imag]),
    (Decimal, lambda value: ["decimal", Decimal.__str__(value)]),
    (Fraction, lambda value: ["fraction", hex(value.numerator), hex(value.denominator)]),
    (str, _text),
    (bytes, lambda value: ["bytes", to_text(bytes(value))]),
    (bytearray, lambda value: ["bytes", to_text(bytes(value))]),
    (type, lambda value: ["class", *name_of(value)]),
    (ModuleType, lambda value: ["module", value.__name__]),
    (BaseException, lambda value: ["exception", _class_of(value)]),
)


def _composed(value: Any, bases: Sequence[type], within: frozenset[int]) -> Snapshot:
    if np.ndarray in bases:
        return _masked(value, within) if hasattr(type(value), "hardmask") else _array(np.asarray(value), within)
    for base in _LISTS:
        if base in bases:
            return _list(base.__iter__(value), base.__len__(value), within)
    for base in _SETS:
        if base in bases:
            return ["set", [_of(one, within) for one in base.__iter__(value)]]
    if dict in bases:
        return ["dict", [[_of(key, within), _of(one, within)] for key, one in dict.items(value)]]
    if isinstance(value, range):
        return _list(value, len(value), within) if len(value) <= MAX_ELEMENTS else ["range", repr(value)]
    if isinstance(value, _VIEWS):
        return _list(value, len(value), within)
    library = type(value).__module__.partition(".")[0]
    if library in _LIBRARIES and (found := _of_library(value, library, within)) is not None:
        return found
    if type(value).__module__ == MAIN:
        state = sorted(read_state(value).items())
        return ["instance", type(value).__name__, [[str(name), _of(one, within)] for name, one in state]]
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if callable(value):
        return ["function", str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", name))]
    return ["other", name, repr(value)[:_MAX_TEXT] if _is_plain(value) else ""]


def _is_plain(value: Any) -> bool:
    """Whether its text says what it holds: dates, paths, patterns, and not where it lies in memory."""
    return (
        kind_of(type(value)) is not None and type(value).__repr__ is not object.__repr__ and " at 0x" not in repr(value)
    )


def _list(values: Iterable[Any], length: int, within: frozenset[int]) -> Snapshot:
    if length <= MAX_ELEMENTS:
        return ["list", [_of(one, within) for one in values]]
    kept = list(values)
    if {type(one) for one in kept} <= {int, float, bool}:
        return _array(np.array(kept), within)
    return ["long list", length, _sha(json.dumps([_of(one, within) for one in kept]))]


def _array(value: np.ndarray, within: frozenset[int]) -> Snapshot:
    """Numbers and times by their bytes; texts, objects and records element by element, as in nested lists."""
    kind, shape = value.dtype.kind, list(value.shape)
    if value.dtype.names:
        names = value.dtype.names
        rows = [["dict", [[["text", name], _of(row[name], within)] for name in names]] for row in value.ravel()]
        return ["list", rows]
    if kind not in "biufcmM":
        return _of(value.tolist(), within)
    plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
    if value.dtype.itemsize > 8 and kind == "f":
        plain = plain.astype(np.float64)
    if value.size > MAX_ELEMENTS:
        return ["digest", shape, plain.dtype.str, *_digest(plain)]
    return ["array", shape, plain.dtype.str, to_text(plain.tobytes())]


def _digest(value: np.ndarray) -> tuple[str, list[float], float]:
    """What is no finite number, exactly; the finite ones as sums with fixed weights, and how large these could be."""
    if value.dtype.kind not in "fc":
        return hashlib.sha256(value.tobytes()).hexdigest(), [], 0.0
    numbers = np.ravel(value.view(value.real.dtype)).astype(np.float64)
    finite = np.isfinite(numbers)
    special = np.where(np.isnan(numbers), 2, np.sign(np.where(finite, 0, numbers))).astype(np.int8)
    numbers = np.where(finite, numbers, 0.0)
    chance, sums, largest = np.random.Generator(np.random.PCG64(20_000)), [], 0.0
    for _ in range(_PROJECTIONS):
        terms = chance.standard_normal(numbers.size) * numbers
        sums.append(float(terms.sum()))
        largest = max(largest, float(np.abs(terms).sum()))
    return hashlib.sha256(special.tobytes()).hexdigest(), sums, largest


def _masked(value: Any, within: frozenset[int]) -> Snapshot:
    mask = np.ma.getmaskarray(value)
    if not mask.any():
        return _array(np.ma.getdata(value), within)
    values = np.ma.getdata(value).copy()
    values[mask] = np.zeros((), value.dtype)
    return ["masked", _array(mask, within), _array(values, within)]


def _of_library(value: Any, library: str, within: frozenset[int]) -> Snapshot | None:
    if library == "torch":
        torch = sys.modules["torch"]
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return None
        plain = value.detach().cpu()
        return _array((plain.float() if plain.dtype in (torch.bfloat16, torch.float16) else plain).numpy(), within)
    if library == "pandas":
        pd = sys.modules["pandas"]
        if isinstance(value, pd.DataFrame):
            columns = [_column(value.iloc[:, number], within) for number in range(value.shape[1])]
            return ["frame", [_of(one, within) for one in value.columns], _column(value.index, within), columns]
        if isinstance(value, pd.Series):
            return ["series", _of(value.name, within), _column(value.index, within), _column(value, within)]
        if isinstance(value, pd.Index):
            return _column(value, within)
    return None


def _column(value: Any, within: frozenset[int]) -> Snapshot:
    if str(value.dtype) == "object" or not isinstance(value.dtype, np.dtype):
        return _list(value.tolist(), len(value), within)
    return _array(value.to_numpy(), within)


def _class_of(error: BaseException) -> str:
    for cls in type.__getattribute__(type(error), "__mro__"):
        if link_of(cls) is None and cls.__module__ != MAIN:
            return str(cls.__name__)
    return "BaseException"


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""Whether two snapshots are alike: what a student's code gave, and what the solution gave at the same place.

Numbers are compared by value, never through a library's ``==``: nan is nan, infinity infinity, and how close two
numbers are follows from the solution's one alone.
"""

import base64
import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.remote.snapshots import Snapshot

_RELATIVE, _ABSOLUTE = 1e-6, 1e-9
#: Single precision: of each number, and of the largest in its array.
_SINGLE, _OF_LARGEST = 1e-5, 1e-6
#: Elements of sets and keys that are looked for among all others.
_MAX_SEARCHED = 200
#: Numbers below this are tiny, and only relative differences count.
_TINY = 1e-6
#: Powers of ten beyond which a decimal number is none that others are compared with.
_MAX_POWER = 5_000
_INCOMPARABLE = "a value that cannot be compared"
_NUMBERS = ("int", "float", "complex", "decimal", "fraction")
_WORDS = {
    "text": "a text", "constant": "None", "list": "a sequence", "array": "an array",
    "dict": "a dict", "set": "a set", "frame": "a table", "series": "a column", "object": "an object or a function",
    "own": "an object of a class that derives from data", "masked": "an array with masked numbers", "class": "a class",
    "exception": "an exception", "function": "a library's function", "digest": "an array", "module": "a module",
}  # fmt: skip


def difference(wanted: Snapshot, came: Snapshot) -> str:
    """How what came is not what the solution gave, in words without values; empty where they are alike.

    Raises nothing, whatever came.
    """
    try:
        return _differs(wanted, came)
    except Exception:
        return _INCOMPARABLE


def difference_in_kind(wanted: Snapshot, came: Snapshot, lengths: bool = True) -> str:
    """The same for a place that takes more than one value: kind, shape and finiteness alone are compared.

    lengths: whether the solution always gave as many elements.
    """
    try:
        return _differs_in_kind(wanted, came, lengths)
    except Exception:
        return _INCOMPARABLE


def _differs(wanted: Snapshot, came: Snapshot) -> str:
    if wanted[0] in _NUMBERS and came[0] in _NUMBERS:
        return _of_numbers(_number(wanted), _number(came))
    first, second = _as_array(wanted), _as_array(came)
    if first is not None and second is not None and "array" in (wanted[0], came[0]):
        return _of_arrays(first, second)
    if wanted[0] != came[0]:
        return f"{_family(came)} came, not {_family(wanted)}"
    compare = _COMPARED.get(wanted[0])
    if compare is not None:
        return compare(wanted, came)
    family = _family(wanted).removeprefix("a ").removeprefix("an ")
    return "" if wanted == came else f"another {family}"


def _differs_in_kind(wanted: Snapshot, came: Snapshot, lengths: bool) -> str:
    if not _differs(wanted, came):
        return ""
    if wanted[0] == came[0] == "text":
        return "" if bool(wanted[1]) == bool(came[1]) else "an empty text" if wanted[1] else "a text that is not empty"
    if wanted[0] in _NUMBERS and came[0] in _NUMBERS:
        return "another type" if (wanted[0] == "int") != (came[0] == "int") else _of_finiteness(wanted, came)
    first, second = _as_array(wanted), _as_array(came)
    if first is not None and second is not None:
        if first.ndim != second.ndim or bool(first.size) != bool(second.size):
            return "another shape"
        if lengths and first.shape != second.shape:
            return "another shape"
        if (first.dtype.kind in "biu") != (second.dtype.kind in "biu"):
            return "another type"
        return _of_finiteness(wanted, came)
    if wanted[0] != came[0]:
        return f"{_family(came)} came, not {_family(wanted)}"
    if wanted[0] in ("object", "raised", "exception", "class", "module", "function", "constant"):
        return _differs(wanted, came)
    if wanted[0] == "frame" and (len(wanted[1]) != len(came[1]) or any(map(_differs, wanted[1], came[1]))):
        return "other columns"
    inside, others = list(_inside(wanted)), list(_inside(came))
    if bool(inside) != bool(others) or (lengths and len(inside) != len(others)):
        return "another length"
    if wanted[0] == "list" and lengths:
        return _first(_differs_in_kind(one, other, lengths) for one, other in zip(inside, others, strict=True))
    return _of_finiteness(wanted, came)


def _first(words: Iterator[str]) -> str:
    return next(filter(None, words), "")


def _family(one: Snapshot) -> str:
    tag = str(one[0])
    if tag in _NUMBERS:
        return "a number"
    return f"an exception ({one[1]})" if tag == "raised" else _WORDS.get(tag, tag)


# numbers


def _number(one: Snapshot) -> Any:
    if one[0] == "complex":
        return complex(one[1], one[2])
    if one[0] == "decimal":
        return Decimal(one[1])
    return Fraction(int(one[1], 16), int(one[2], 16)) if one[0] == "fraction" else one[1]


def _of_numbers(wanted: Any, came: Any) -> str:
    if isinstance(wanted, complex) or isinstance(came, complex):
        return _first(_of_numbers(getattr(wanted, part), getattr(came, part)) for part in ("real", "imag"))
    if isinstance(wanted, int) and isinstance(came, int):
        return "" if wanted == came else "another number"
    if wanted != wanted or came != came:
        return "" if wanted != wanted and came != came else "nan"
    if _is_infinite(wanted) or _is_infinite(came):
        return "" if wanted == came else "infinity"
    if any(isinstance(one, Decimal) and abs(one.adjusted()) > _MAX_POWER for one in (wanted, came)):
        return "" if wanted == came else "another number"
    exact = Fraction(wanted)
    absolute = Fraction(0 if 0 < abs(exact) < _TINY else _ABSOLUTE)
    close = abs(exact - Fraction(came)) <= max(absolute, Fraction(_RELATIVE) * abs(exact))
    return "" if close else "another number"


def _is_infinite(number: Any) -> bool:
    return math.isinf(number) if isinstance(number, float) else isinstance(number, Decimal) and number.is_infinite()


# arrays and sequences


def _as_array(one: Snapshot) -> np.ndarray | None:
    """An array's numbers, or those of a number and of nested sequences; None where there are others than numbers."""
    if one[0] == "array":
        return np.frombuffer(base64.b64decode(one[3]), dtype=one[2]).reshape(one[1])
    if one[0] in ("list", *_NUMBERS):
        try:
            return np.array(_numbers(one))
        except (ValueError, TypeError, OverflowError):
            return None
    return None


def _numbers(one: Snapshot) -> Any:
    if one[0] in _NUMBERS:
        return _number(one) if one[0] in ("int", "float", "complex") else float(_number(one))
    if one[0] == "list":
        return [_numbers(inner) for inner in one[1]]
    found = _as_array(one) if one[0] == "array" else None
    if found is None:
        raise ValueError(one[0])
    return found


def _of_arrays(wanted: np.ndarray, came: np.ndarray) -> str:
    if wanted.shape != came.shape:
        return "another shape"
    if "O" in (wanted.dtype.kind, came.dtype.kind) or wanted.dtype.kind in "mM" or came.dtype.kind in "mM":
        same_kind = wanted.dtype.kind == came.dtype.kind
        return "" if same_kind and ((wanted == came) | ((wanted != wanted) & (came != came))).all() else "other values"
    if wanted.dtype.kind in "biu" and came.dtype.kind in "biu":
        return "" if (wanted == came).all() else "other numbers"
    single = any(one.dtype.kind == "f" and one.dtype.itemsize <= 4 for one in (wanted, came))
    first, second = wanted.astype(complex), came.astype(complex)
    for one, other in ((first.real, second.real), (first.imag, second.imag)):
        if (np.isnan(one) != np.isnan(other)).any():
            return "nan"
        infinite = np.isinf(one)
        if (infinite != np.isinf(other)).any() or (one[infinite] != other[infinite]).any():
            return "infinity"
    finite = np.isfinite(first)
    sizes = np.abs(first[finite])
    close = np.abs(first[finite] - second[finite]) <= _tolerance(sizes, single)
    return "" if close.all() else "other numbers"


def _tolerance(sizes: np.ndarray, single: bool) -> np.ndarray:
    largest = float(sizes.max(initial=0.0))
    if single:
        return np.maximum(_SINGLE * sizes, _OF_LARGEST * largest)
    return np.maximum(min(_ABSOLUTE, _RELATIVE * largest) if largest else _ABSOLUTE, _RELATIVE * sizes)


# all else


def _of_lists(wanted: Snapshot, came: Snapshot) -> str:
    if len(wanted[1]) != len(came[1]):
        return "another length"
    return _first(_differs(one, other) for one, other in zip(wanted[1], came[1], strict=True))


def _of_sets(wanted: Snapshot, came: Snapshot) -> str:
    if len(wanted[1]) != len(came[1]):
        return "another length"
    return "" if _pairs(wanted[1], came[1]) is not None else "other elements"


def _of_dicts(wanted: Snapshot, came: Snapshot) -> str:
    keys = [key for key, _ in came[1]]
    pairs = _pairs([key for key, _ in wanted[1]], keys) if len(wanted[1]) == len(keys) else None
    if pairs is None:
        return "other keys"
    return _first(_differs(one, came[1][at][1]) for (_, one), at in zip(wanted[1], pairs, strict=True))


def _pairs(wanted: Sequence[Snapshot], came: Sequence[Snapshot]) -> list[int] | None:
    """For each that is wanted, which one is alike; None where one has none. Most are so letter by letter."""
    exact: dict[str, list[int]] = {}
    for at, one in enumerate(came):
        exact.setdefault(json.dumps(one), []).append(at)
    same = [exact.get(json.dumps(one)) for one in wanted]
    found = [at.pop() if at else -1 for at in same]
    left = sorted(set(range(len(came))) - set(found))
    if len(left) > _MAX_SEARCHED:
        return None
    for number, one in enumerate(wanted):
        if found[number] < 0:
            found[number] = next((at for at in left if not _differs(one, came[at])), -1)
            if found[number] < 0:
                return None
            left.remove(found[number])
    return found


def _of_frames(wanted: Snapshot, came: Snapshot) -> str:
    if len(wanted[1]) != len(came[1]) or any(map(_differs, wanted[1], came[1])):
        return "other columns"
    if _differs(wanted[2], came[2]):
        return "other rows"
    return _first(map(_differs, wanted[3], came[3]))


def _of_series(wanted: Snapshot, came: Snapshot) -> str:
    if _differs(wanted[2], came[2]):
        return "other rows"
    return _differs(wanted[3], came[3]) or ("another name" if _differs(wanted[1], came[1]) else "")


def _of_instances(wanted: Snapshot, came: Snapshot) -> str:
    if wanted[1] != came[1] or [name for name, _ in wanted[2]] != [name for name, _ in came[2]]:
        return "other attributes"
    return _first(_differs(one, other) for (_, one), (_, other) in zip(wanted[2], came[2], strict=True))


def _of_digests(wanted: Snapshot, came: Snapshot) -> str:
    if wanted[1] != came[1]:
        return "another shape"
    if wanted[3] != came[3] or len(wanted[4]) != len(came[4]):
        return "other numbers"
    room = max(_RELATIVE, _SINGLE if "f4" in wanted[2] + came[2] else 0.0) * wanted[5]
    return (
        "" if all(abs(one - other) <= room for one, other in zip(wanted[4], came[4], strict=True)) else "other numbers"
    )


_COMPARED = {
    "list": _of_lists, "set": _of_sets, "dict": _of_dicts, "frame": _of_frames, "series": _of_series,
    "instance": _of_instances, "digest": _of_digests,
    "own": lambda wanted, came: _differs(wanted[1], came[1]),
    "masked": lambda wanted, came: "another mask" if wanted[1] != came[1] else _differs(wanted[2], came[2]),
    "enum": lambda wanted, came: _differs(wanted[2], came[2]) if wanted[1] == came[1] else "another enum",
}  # fmt: skip


# what a value holds


def _of_finiteness(wanted: Snapshot, came: Snapshot) -> str:
    return "nan or infinity" if _is_finite(wanted) and not _is_finite(came) else ""


def _is_finite(one: Snapshot) -> bool:
    if one[0] in ("float", "complex"):
        return all(map(math.isfinite, one[1:]))
    if one[0] == "decimal":
        return Decimal(one[1]).is_finite()
    if one[0] == "array":
        found = _as_array(one)
        return found is None or found.dtype.kind not in "fc" or bool(np.isfinite(found).all())
    return all(map(_is_finite, _inside(one)))


def _inside(one: Snapshot) -> Sequence[Snapshot]:
    if one[0] in ("list", "set"):
        return list(one[1])
    if one[0] == "dict":
        return [inner for pair in one[1] for inner in pair]
    if one[0] == "own":
        return [one[1]]
    if one[0] == "frame":
        return [one[2], *one[1], *one[3]]
    if one[0] == "series":
        return [one[2], one[3]]
    return [inner for _, inner in one[2]] if one[0] == "instance" else []

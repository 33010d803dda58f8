"""In what way numbers of the right shape are wrong, in words: flipped, scaled, shifted, alike, right in part.

For answers that no mistake of the catalogue explains. Nothing that is said quotes an expected value.
"""

import json
from collections.abc import Callable, Iterator
from itertools import combinations, takewhile
from operator import eq

import numpy as np

Array = np.ndarray
Near = Callable[[Array, Array], bool]
#: Of fewer numbers, or of equal ones, any likeness may be chance.
MIN_NUMBERS = 4
#: Of fewer numbers that are all 0 or 1, such words would say which is which.
MIN_MARKS = 16
NEARLY = "the numbers are nearly right: something computes with too few digits, or with slightly other constants."
_TINY = 1e-12
#: What a formula may have too many or too few of.
_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "square": np.square,
    "square root": np.sqrt,
    "exponential": np.exp,
    "logarithm": np.log,
    "reciprocal": np.reciprocal,
}


def likeness(got: Array, want: Array, atol: float, rtol: float) -> str:
    """What the answer is like, as the end of a sentence; empty where there is nothing to say.

    Both are finite and of one shape. Numbers that differ by less than ten times the tolerance count as the same.
    """
    got, want = got.astype(np.float64), want.astype(np.float64)
    marks = bool(np.isin(got, (0, 1)).all() and np.isin(want, (0, 1)).all())

    def near(first: Array, second: Array) -> bool:
        return bool(np.allclose(first, second, atol=10 * atol, rtol=10 * rtol))

    if got.size < (MIN_MARKS if marks else MIN_NUMBERS) or np.ptp(want) <= atol:
        return ""
    if (atol or rtol) and near(got, want):
        return NEARLY
    ways = (_alike, _factor, _turned, _in_part, _shifted, _scaled, _cut, _zeros, _function, _sums, _rounded, _ordered)
    return next((words for way in ((_marks,) if marks else ()) + ways for words in way(got, want, near)), "")


def likeness_of_texts(got: object, want: object) -> str:
    """The same for lists of texts."""
    if not isinstance(got, list) or not isinstance(want, list):
        return ""
    if len(got) != len(want):
        return f"{len(got)} entries came in place of {len(want)}."
    ours, theirs = list(map(json.dumps, want)), list(map(json.dumps, got))
    if len(set(ours)) < MIN_NUMBERS:  # so few that it would say which is which
        return ""
    if sorted(ours) == sorted(theirs):
        return "the entries are the right ones, but they stand at other positions."
    right = sum(takewhile(bool, map(eq, ours, theirs)))
    return f"the first {right} of {len(want)} entries are right, the next one is not." if right > 1 else ""


def _alike(got: Array, want: Array, near: Near) -> Iterator[str]:
    if not got.any():
        yield "every number is 0."
    elif np.ptp(got) <= 1e-9 * np.abs(got).max():
        yield "all numbers are the same one."
    else:
        for axis in _axes(got):
            first = np.take(got, [0], axis)
            if near(got, np.broadcast_to(first, got.shape)) and not near(want, np.take(want, [0], axis) + 0 * want):
                yield f"all entries along {_named(axis, got)} are alike; they should differ."


def _factor(got: Array, want: Array, near: Near) -> Iterator[str]:
    if near(got, -want):
        yield "every number has the wrong sign."
        return
    factor = float((got * want).sum() / max(float((want * want).sum()), _TINY))
    if abs(factor) > 1e-3 and near(got / factor, want):
        yield f"every number is {factor:.3g} times what it should be."
    elif near(got, np.abs(want)):
        yield "every number lost its sign."
    elif near(np.abs(got), np.abs(want)):
        yield "some numbers have the wrong sign."


def _turned(got: Array, want: Array, near: Near) -> Iterator[str]:
    """The right numbers at other positions."""
    for first, second in combinations(_axes(got), 2):
        if got.shape[first] == got.shape[second] and near(got, want.swapaxes(first, second)):
            yield f"{_named(first, got)} and {_named(second, got)} are swapped."
    for axis in _axes(got):
        if near(got, np.flip(want, axis)):
            yield f"the entries along {_named(axis, got)} stand in reverse order."
        for step in (1, -1):
            if near(got, np.roll(want, step, axis)):
                yield f"the entries along {_named(axis, got)} are shifted by one position."
    if near(np.sort(got, None), np.sort(want, None)):
        yield "the numbers are the right ones, but they stand at other positions."


def _marks(got: Array, want: Array, near: Near) -> Iterator[str]:
    """True and false, or 1 and 0."""
    excess, lacking = int((got > want).sum()), int((got < want).sum())
    if excess + lacking == want.size:
        yield "0 (or False) and 1 (or True) are the wrong way round."
    elif not lacking:
        yield f"in {excess} of {want.size} places, there is 1 (or True) in place of 0 (or False)."
    elif not excess:
        yield f"in {lacking} of {want.size} places, there is 0 (or False) in place of 1 (or True)."


def _in_part(got: Array, want: Array, near: Near) -> Iterator[str]:
    """Right along a part of an axis."""
    for axis in _axes(got):
        right = [near(*pair) for pair in zip(np.moveaxis(got, axis, 0), np.moveaxis(want, axis, 0), strict=True)]
        if len(right) < 2 or not any(right):
            continue
        place = _named(axis, got)
        if sum(right) == 1 and (right[0] or right[-1]):
            yield f"only the {'first' if right[0] else 'last'} entry along {place} is right."
        elif sum(right) == len(right) - 1 and not (right[0] and right[-1]):
            yield f"the {'last' if right[0] else 'first'} entry along {place} is wrong, the others are right."
        else:
            yield f"{sum(right)} of the {len(right)} entries along {place} are right, the others are not."


def _shifted(got: Array, want: Array, near: Near) -> Iterator[str]:
    """The same amount too much or too little: everywhere, or along an axis, where a bias may be missing."""
    off = got - want
    if near(off, np.full_like(off, off.mean())):
        yield "every number is off by the same amount."
    for axis in _axes(got):
        others = tuple(other for other in _axes(got) if other != axis)
        if others and near(off, off.mean(others, keepdims=True) + 0 * off):
            place = _named(axis, got)
            yield f"each entry along {place} is off by one amount of its own: is a bias missing, or in excess?"
    for axis in reversed(_axes(got)):
        if near(off, off.mean(axis, keepdims=True) + 0 * off):
            yield f"along {_named(axis, got)}, all numbers are off by the same amount."


def _scaled(got: Array, want: Array, near: Near) -> Iterator[str]:
    """A factor for each row, which a missing or wrong division leaves."""
    for axis in reversed(_axes(got)):
        squares = (want * want).sum(axis, keepdims=True)
        factor = (got * want).sum(axis, keepdims=True) / np.maximum(squares, _TINY)
        if (np.abs(factor) > 1e-3).all() and near(got, factor * want) and got.shape[axis] > 2:
            yield f"along {_named(axis, got)}, all numbers are too large or too small by the same factor."


def _cut(got: Array, want: Array, near: Near) -> Iterator[str]:
    if near(got, np.maximum(want, 0)):
        yield "negative numbers were cut to 0."
    elif near(got, np.minimum(want, 0)):
        yield "positive numbers were cut to 0."
    else:
        zero = (got == 0) & (np.abs(want) > 1e-9)
        if zero.any() and near(got[~zero], want[~zero]):
            yield "some numbers are 0, the others are right: is something masked or dropped?"


def _zeros(got: Array, want: Array, near: Near) -> Iterator[str]:
    """Where 0 stands: a mask, or a choice, lets through others than it should."""
    ours, theirs = (np.abs(array) / np.abs(want).max() for array in (want, got))
    if (ours < _TINY).any() and not _whole(want):  # what lies between next to nothing and this is neither
        lacking, excess = int(((ours < _TINY) & (theirs > 1e-4)).sum()), int(((theirs < _TINY) & (ours > 1e-4)).sum())
        if lacking and excess:
            yield f"in {lacking + excess} of {want.size} places, 0 and other numbers are the wrong way round."
        elif lacking:
            yield f"in {lacking} of {want.size} places, a number should be 0 and is not."
        elif excess:
            yield f"in {excess} of {want.size} places, a number is 0 and should not be."


def _function(got: Array, want: Array, near: Near) -> Iterator[str]:
    """A function too many; or one that is missing, which leaves its inverse."""
    with np.errstate(all="ignore"):
        for name, function in _FUNCTIONS.items():
            if near(got, function(want)):
                yield f"every number is the {name} of what it should be."


def _ordered(got: Array, want: Array, near: Near) -> Iterator[str]:
    steps = np.diff(got.flat[np.argsort(want, axis=None)])
    if min(len(np.unique(array)) for array in (got, want)) >= 2 * MIN_NUMBERS:
        if (steps >= 0).all():
            yield "their order by size is right, the numbers are not."
        elif (steps <= 0).all():
            yield "their order by size is the reverse of the right one: is a sign wrong?"


def _sums(got: Array, want: Array, near: Near) -> Iterator[str]:
    """Rows that sum to 1, and rows that should."""
    if _whole(got) and _whole(want):
        return
    ours, theirs = (_sums_to_one(array) for array in (want, got))
    if ours and not theirs.issuperset(ours):
        axis = max(ours - theirs)
        other = f"; yours do over {_named(max(theirs), got)}" if theirs else ""
        yield f"the numbers must sum to 1 over {_named(axis, got)}{other or ', and do not'}."
    elif theirs - ours and (got >= 0).all():
        yield f"the numbers sum to 1 over {_named(max(theirs), got)}, as after a softmax; they should not."


def _rounded(got: Array, want: Array, near: Near) -> Iterator[str]:
    if _whole(got) and not _whole(want):
        yield "all numbers are whole: something rounds them."
    elif not _whole(got) and np.abs(got - want).max() <= 1e-2 * np.abs(want).max():
        yield NEARLY


def _whole(array: Array) -> bool:
    return bool(np.array_equal(array, np.round(array)))


def _sums_to_one(array: Array) -> set[int]:
    return {axis for axis in _axes(array) if np.allclose(array.sum(axis), 1, atol=1e-4)}


def _axes(array: Array) -> list[int]:
    """The axes along which there is more than one entry."""
    return [axis for axis, length in enumerate(array.shape) if length > 1]


def _named(axis: int, array: Array) -> str:
    return f"axis {axis} (of {array.shape[axis]})" if array.ndim > 1 else "its axis"

"""The expected tensors as something to search for: raw bytes, and numbers printed to two decimals or more."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from safetensors.numpy import load

from autograder.assignment.assignment import Assignment
from autograder.references.stored_files import EXPECTED, read_files, stored_exercises

#: A tensor of fewer bytes, or of fewer different values, occurs by chance.
MIN_BYTES = 24
MIN_VALUES = 4

#: Decimals -> how many neighbours, and how far apart: as many as do not occur by chance. Numbers with more decimals are
#: rounded to four.
_LONG, _SHORT = 4, {3: (4, 200), 2: (6, 50)}
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.(\d+)(?:[eE]([+-]?\d+))?(?![\w.])")
_HUGE = 1e12  # no result of an exercise; a number that is written can be greater than any float
Group = tuple[int, ...]

_PIECE = 1 << 20  # bytes that are searched at once: what they are turned into stays in the processor's cache
_HASH_BITS = 20
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd and irregular: spreads the words over the hashes


@dataclass(frozen=True)
class Tensors:
    """``bytes_by_head``: eight bytes -> (all that a tensor is recognised by, its name); ``groups``: numbers -> name;
    ``shown``: numbers that students read in a visible text.
    """

    bytes_by_head: dict[int, list[tuple[bytes, str]]]
    groups: dict[Group, str]
    shown: set[Group]

    @classmethod
    def of(cls, assignment: Assignment) -> "Tensors":
        by_head: dict[int, list[tuple[bytes, str]]] = {}
        groups: dict[Group, str] = {}
        for name, array in _expected(assignment):
            for raw in _raw(array):
                by_head.setdefault(int.from_bytes(raw[:8], "little"), []).append((raw, name))
            groups |= dict.fromkeys(_groups(array), name)
        visible = (number_groups(cell.source) for nb in assignment.source.values() for cell in nb.cells)
        return cls(by_head, groups, set().union(*visible))

    @classmethod
    def joined(cls, parts: "Sequence[Tensors]") -> "Tensors":
        by_head: dict[int, list[tuple[bytes, str]]] = {}
        for head, found in ((head, found) for part in parts for head, found in part.bytes_by_head.items()):
            by_head.setdefault(head, []).extend(found)
        shown = set[Group]().union(*(part.shown for part in parts))
        groups = {group: name for part in parts for group, name in part.groups.items() if group not in shown}
        return cls(by_head, groups, shown)

    def in_bytes(self, data: bytes) -> Iterator[str]:
        """The names of the tensors whose bytes are in ``data``, at whatever offset."""
        if not self.bytes_by_head or len(data) < MIN_BYTES:
            return
        reported: set[str] = set()
        for begin in range(0, len(data), _PIECE):
            for offset in range(begin, min(begin + 8, len(data))):
                window = np.frombuffer(data, "<u8", offset=offset, count=min(_PIECE, len(data) - offset) // 8)
                for index in np.flatnonzero(self._known_hashes[_hashes(window)]):
                    at = offset + 8 * int(index)
                    for raw, name in self.bytes_by_head.get(int(window[index]), ()):
                        if name not in reported and data.startswith(raw, at):
                            reported.add(name)
                            yield name

    @cached_property
    def _known_hashes(self) -> np.ndarray:
        """True at the hash of every head: looking heads up here is much faster than sorting megabytes."""
        known = np.zeros(1 << _HASH_BITS, dtype=bool)
        known[_hashes(np.fromiter(self.bytes_by_head, dtype=np.uint64))] = True
        return known

    def in_numbers(self, groups: set[Group]) -> Iterator[str]:
        yield from sorted({self.groups[group] for group in groups & self.groups.keys()})


def _hashes(words: np.ndarray) -> np.ndarray:
    """A number below ``1 << _HASH_BITS`` for each word of eight bytes."""
    return (words * _FACTOR) >> np.uint64(64 - _HASH_BITS)


def number_groups(text: str) -> set[Group]:
    """Numbers that follow each other, as whole ones: see ``_LONG`` and ``_SHORT``."""
    found = [(float(one[0]), len(one[1]), one[2]) for one in _NUMBER.finditer(text)]
    found = [one for one in found if abs(one[0]) < _HUGE]
    long = [number for number, decimals, power in found if decimals >= (_LONG - 1 if power else _LONG)]
    groups = {group for size in (2, 3) for group in _neighbours(long, _LONG, size)}
    for places, (size, _) in _SHORT.items():
        # numpy leaves out the last zeros of some
        short = [number for number, decimals, power in found if decimals <= places and not power]
        groups |= set(_neighbours(short, places, size))
    return groups


def _neighbours(numbers: Sequence[float], places: int, size: int) -> Iterator[Group]:
    whole = [round(number * 10**places) for number in numbers]
    return (tuple(whole[at : at + size]) for at in range(len(whole) - size + 1))


def _expected(assignment: Assignment) -> Iterator[tuple[str, np.ndarray]]:
    public = assignment.references.public_answers(assignment.name)
    folder = assignment.references.folder / assignment.name
    for exercise in stored_exercises(folder):
        for name, array in load(read_files(folder, exercise, EXPECTED)[EXPECTED]).items():
            if np.issubdtype(array.dtype, np.floating) and array.tobytes() not in public:
                yield f"the expected tensor {assignment.name}/{exercise}/{name}", array


def _raw(array: np.ndarray) -> set[bytes]:
    """The first bytes of the tensor, as it is stored and in the other usual precisions."""
    kinds = {array.dtype, np.dtype("<f2"), np.dtype("<f4"), np.dtype("<f8")}
    flat = array.reshape(-1)[:64]
    if len(np.unique(flat)) < MIN_VALUES or not np.all(np.isfinite(flat)):
        return set()
    with np.errstate(over="ignore"):
        written = {flat.astype(kind).tobytes() for kind in kinds}
    return {raw for raw in written if len(raw) >= MIN_BYTES and len(set(raw)) > MIN_VALUES}


def _groups(array: np.ndarray) -> Iterator[Group]:
    """Three neighbours along the last axis, two where there are no three; only numbers that say something. Of numbers
    with fewer decimals some more, in the order in which the whole array is printed.
    """
    if array.ndim == 0 or array.size < 2:
        return
    width = array.shape[-1] if array.shape[-1] > 1 else array.size
    rows = array.reshape(-1, width).astype(float)
    # not 0.0001, 0.0002, 0.0003: small numbers have too few digits to say something
    yield from (group for group in _windows(rows, _LONG, min(3, width)) if max(map(abs, group)) >= 100)
    for places, (size, apart) in _SHORT.items():
        for group in _windows(rows.reshape(1, -1), places, size):
            if max(group) - min(group) >= apart:
                yield group


def _windows(rows: np.ndarray, places: int, size: int) -> Iterator[Group]:
    """Neighbours that all differ, as whole numbers; none of them is one with two decimals, as anybody could print."""
    with np.errstate(invalid="ignore"):
        whole = np.round(rows * 10**places)
        telling = np.isfinite(rows) & (np.round(rows * 10**_LONG) % 100 != 0)
    for at in range(rows.shape[1] - size + 1):
        for row, tells in zip(whole[:, at : at + size], telling[:, at : at + size], strict=True):
            if np.all(tells) and len(set(row)) == size:
                yield tuple(int(number) for number in row)

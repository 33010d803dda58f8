"""Places at which a test holds for other values than the solution's, too: found by trying a value beside each.

Leaf by leaf: a place is open where the test holds with each of its leaves changed, and none is such that nothing lies
beside it. A process that was forked before the cell waits with the names as they were. Afterwards it goes through the
cell once for each leaf, in a fork of its own: the student's kernel is not asked again, its answers are replayed.
"""

import json
import math
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from autograder.remote.handle import link_of
from autograder.remote.snapshots import Snapshot
from autograder.tester.line import DESCRIPTOR, Client

_SHARE, _LETTER = 1.0001, "x"
#: Leaves of a value that are tried each by itself; what is behind them is changed together.
MAX_LEAVES = 20
_NEVER = {"object", "raised", "ended", "constant", "module", "class", "function", "again", "other", "enum", "instance"}
_COMPARED = ("op", "args", "kwargs")
Hold = Callable[[Client, str, int], int]


class CannotVary(ValueError):
    """There is nothing beside this value that could be tried."""


def vary(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with ``change`` made of each of its leaves: whatever is no container with something in it."""
    cls = type(value)
    if cls in (list, tuple, set, frozenset, deque) and value:
        return cls([vary(one, change) for one in value])
    if cls is dict and value:
        return {key: vary(one, change) for key, one in value.items()}
    return change(value)


def beside(value: Any) -> Any:
    """A number a ten thousandth larger, the next integer, a longer text, a list with something. Raises CannotVary."""
    if link_of(value) is not None:
        raise CannotVary
    cls = type(value)
    if cls is bool or cls is np.bool_:
        return not value
    if cls is int or isinstance(value, np.integer):
        return value + 1
    if cls in (float, complex) or isinstance(value, np.inexact):
        return _beside(value, cls)
    if cls in (Decimal, Fraction):
        return value + cls("0.001")
    if cls in (str, bytes):
        return value + (_LETTER if cls is str else _LETTER.encode())
    if cls in (list, tuple, set, frozenset, deque):
        return cls([0])
    return {0: 0} if cls is dict else _array(value, cls)


def can_vary(place: str, came: Sequence[Snapshot]) -> bool:
    """Whether what came at a place may have a value beside it: neither an object, nor what an operation changed."""
    kinds = {one[0] for one in came}
    return place != "printed" and not place.endswith(" changes") and not kinds <= _NEVER


def _beside(value: Any, cls: Any) -> Any:
    if value != value or abs(value) == math.inf:
        raise CannotVary
    return cls(value * _SHARE if value else 1e-4)


def _array(value: Any, cls: Any) -> Any:
    library = cls.__module__.partition(".")[0]
    kind = getattr(getattr(value, "dtype", None), "kind", "") if library in ("numpy", "pandas") else ""
    if not math.prod(getattr(value, "shape", (0,))):
        raise CannotVary
    if library == "pandas" and hasattr(value, "select_dtypes"):
        return value.apply(lambda column: _array(column, type(column)))
    if kind in ("f", "c") or (library == "torch" and value.is_floating_point()):
        return value * _SHARE + (value == 0) * 1e-4
    if kind in ("i", "u"):
        return value + 1
    if kind == "b":
        return ~value
    raise CannotVary


class Varying:
    """Makes another value of each that comes, by one of its leaves. Where there is none, the try has ended.

    number: of the leaf, or of the first of all that are left over. ``most``: how many leaves a value had.
    """

    def __init__(self, number: int) -> None:
        self._number, self.most = number, 0

    def __call__(self, value: Any) -> Any:
        at = count()

        def change(leaf: Any) -> Any:
            return beside(leaf) if min(next(at), MAX_LEAVES) == self._number else leaf

        try:
            made = vary(value, change)
        except Exception:
            os._exit(1)
        self.most = max(self.most, next(at))
        return made


class Recorded:
    """A line that remembers what was said on it."""

    def __init__(self, line: Client) -> None:
        self._line = line
        self.exchanges: list[tuple[str, str]] = []

    def ask(self, text: str) -> str:
        reply = self._line.ask(text)
        self.exchanges.append((text, reply))
        return reply


class _Replayed:
    """The same answers again, for as long as the same is asked."""

    def __init__(self, exchanges: Sequence[Sequence[str]]) -> None:
        self._left = deque(exchanges)

    def ask(self, text: str) -> str:
        if self._left and _question(self._left[0][0]) == _question(text):
            return self._left.popleft()[1]
        os._exit(1)  # nobody knows the answer


def _question(text: str) -> Any:
    message = json.loads(text)
    return [message.get(name) for name in _COMPARED]


class ForkBefore:
    """The process that waits with everything as it was before a cell.

    hold: executes the cell with a line, a place and the number of the leaf that is varied there, and tells how many
    leaves there are; 0 where the test does not hold.
    """

    def __init__(self, hold: Hold) -> None:
        tasks, self._tasks = os.pipe()
        self._found, found = os.pipe()
        self._child = os.fork()
        if not self._child:
            os.close(self._tasks)
            os.close(self._found)
            _alone(lambda: _serve(tasks, found, hold))
        os.close(tasks)
        os.close(found)

    def holds_at(self, places: Sequence[str], exchanges: Sequence[Sequence[str]], seconds: float) -> list[str]:
        """Those of the places at which the test holds with other values, as far as these seconds go."""
        try:
            with os.fdopen(self._tasks, "w") as sent:
                json.dump([places, exchanges, seconds], sent)
            ready = select.select([self._found], [], [], 2 * seconds)[0]
            with os.fdopen(self._found) as received:
                return list(json.loads(received.read() or "[]")) if ready else []
        except (OSError, ValueError):
            return []
        finally:
            _end(self._child)

    def drop(self) -> None:
        os.close(self._tasks)
        os.close(self._found)
        _end(self._child)


def _end(child: int) -> None:
    try:
        os.kill(child, signal.SIGKILL)
    finally:
        os.waitpid(child, 0)


def _alone(do: Callable[[], None]) -> None:
    """In a fork: nothing that is said or shown gets out. Does not return."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, DESCRIPTOR)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        do()
    finally:
        os._exit(0)


def _serve(tasks: int, found: int, hold: Hold) -> None:
    with os.fdopen(tasks) as received:
        text = received.read()
    if text:
        places, exchanges, seconds = json.loads(text)
        until = time.monotonic() + seconds
        holding = [place for place in places if _holds(place, exchanges, hold, until)]
        os.write(found, json.dumps(holding).encode())


def _holds(place: str, exchanges: Sequence[Sequence[str]], hold: Hold, until: float) -> bool:
    """Whether the test holds with each leaf of what comes at a place changed."""
    number, leaves = 0, 1
    while number < min(leaves, MAX_LEAVES + 1):
        heard, said = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.write(said, b"%d" % hold(_Replayed(exchanges), place, number))
            finally:
                os._exit(0)
        os.close(said)
        try:
            ready = select.select([heard], [], [], max(0.0, until - time.monotonic()))[0]
            leaves = int(os.read(heard, 20) or b"0") if ready else 0
        finally:
            os.close(heard)
            _end(child)
        number += 1
    return leaves > 0

"""Places at which a test holds for other values than the solution's, too: found by trying a value beside each.

A process that was forked before the cell waits with the names as they were. Afterwards it goes through the cell once
for each place, in a fork of its own: the student's kernel is not asked again, its answers are replayed.
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
from typing import Any

import numpy as np

from autograder.remote.handle import link_of
from autograder.remote.snapshots import Snapshot
from autograder.tester.line import DESCRIPTOR, Client

_SHARE, _LETTER = 1.0001, "x"
_NEVER = {"object", "raised", "ended", "constant", "module", "class", "function", "again", "other", "enum", "instance"}
_COMPARED = ("op", "args", "kwargs")


class CannotVary(ValueError):
    """There is nothing beside this value that could be tried."""


def vary(value: Any) -> Any:
    """A value right beside: a number a ten thousandth larger, a text a letter longer. Raises CannotVary."""
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
        return cls(_varied(list(value)))
    if cls is dict:
        return dict(zip(value, _varied(list(value.values())), strict=True))
    return _array(value, cls)


def can_vary(place: str, came: Sequence[Snapshot]) -> bool:
    """Whether what came at a place may have a value beside it: neither an object, nor what an operation changed."""
    kinds = {one[0] for one in came}
    return place != "printed" and not place.endswith(" changes") and not kinds <= _NEVER


def _beside(value: Any, cls: Any) -> Any:
    if value != value or abs(value) == math.inf:
        raise CannotVary
    return cls(value * _SHARE if value else 1e-4)


def _varied(values: list[Any]) -> list[Any]:
    """Each of them that can be varied; at least one."""
    made, changed = [], False
    for one in values:
        try:
            made.append(vary(one))
            changed = True
        except CannotVary:
            made.append(one)
    if not changed:
        raise CannotVary
    return made


def _array(value: Any, cls: Any) -> Any:
    library = cls.__module__.partition(".")[0]
    if library == "pandas" and hasattr(value, "select_dtypes"):
        numbers = {name: _array(value[name], type(value[name])) for name in value.select_dtypes("number").columns}
        if not numbers:
            raise CannotVary
        return value.assign(**{str(name): column for name, column in numbers.items()})
    if not math.prod(getattr(value, "shape", (0,))):
        raise CannotVary
    if library == "torch" and value.is_floating_point():
        return value * _SHARE + (value == 0) * 1e-4
    kind = getattr(getattr(value, "dtype", None), "kind", "") if library in ("numpy", "pandas") else ""
    if kind in ("f", "c"):
        return value * _SHARE + (value == 0) * 1e-4
    if kind in ("i", "u"):
        return value + 1
    if kind == "b":
        return ~value
    raise CannotVary


class Varying:
    """Makes another value of each that comes. Where there is none, the try has ended. ``done``: how many it made."""

    def __init__(self) -> None:
        self.done = 0

    def __call__(self, value: Any) -> Any:
        try:
            made = vary(value)
        except Exception:
            os._exit(1)
        self.done += 1
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
    """The process that waits with everything as it was before a cell. ``hold``: executes the cell with a line and a
    place whose values are varied, and tells whether the test holds.
    """

    def __init__(self, hold: Callable[[Client, str], bool]) -> None:
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


def _serve(tasks: int, found: int, hold: Callable[[Client, str], bool]) -> None:
    with os.fdopen(tasks) as received:
        text = received.read()
    if text:
        places, exchanges, seconds = json.loads(text)
        until = time.monotonic() + seconds
        holding = [place for place in places if _holds(place, exchanges, hold, until - time.monotonic())]
        os.write(found, json.dumps(holding).encode())


def _holds(place: str, exchanges: Sequence[Sequence[str]], hold: Callable[[Client, str], bool], left: float) -> bool:
    if left <= 0:
        return False
    heard, said = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(said, b"+" if hold(_Replayed(exchanges), place) else b"-")
        finally:
            os._exit(0)
    os.close(said)
    try:
        return bool(select.select([heard], [], [], left)[0]) and os.read(heard, 1) == b"+"
    finally:
        os.close(heard)
        _end(child)

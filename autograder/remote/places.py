"""What reaches a test, place by place. A place is an expression of the cell and an operation.

While the instructor's solution runs, it is noted at which places its code answers, and what came there. In a
submission's run no other place may ask the student's code: so its operators never see a value of the test that no
operator of the solution has seen. What came is written down, to be compared with what the solution gave.
"""

import hashlib
import json
import math
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from autograder.remote.handle import link_of, short
from autograder.remote.kinds import SharedKind, kind_of
from autograder.remote.snapshots import Snapshot, raised, snapshot

#: Place -> what else is known of it: that an exception steers the test there, or that an argument is changed.
Expected = Mapping[str, Sequence[str]]

#: Operations that are the student's in any case: what an object shows of itself, and what it is an instance of.
_ALWAYS = frozenset(("__repr__", "__str__", "__format__", "__hash__", "__dir__", "isinstance", "issubclass"))
_NAMED = frozenset(("getattr", "setattr", "delattr", "method"))
_CONTAINERS: tuple[Any, ...] = (list, tuple, dict, set, frozenset, deque)
#: Characters of a cell's snapshots; behind them only a hash is kept.
_MAX_WRITTEN = 4 << 20
#: Parts and elements of what is told with each answer.
_MAX_TOLD = 5_000


class Places:
    """expected: where the solution's code answered; without, everything is allowed and noted.

    visits: place -> what came there, in order. unused: positions of statements whose value nobody uses: of these it
    counts alone that they ended well. vary: place -> what makes another value of each that comes there.
    """

    def __init__(self) -> None:
        self.expected: Expected | None = None
        self.unused: frozenset[str] = frozenset()
        self.vary: Mapping[str, Callable[[Any], Any]] = {}
        self.clear()

    def clear(self) -> None:
        self.noted: dict[str, set[str]] = {}
        self.visits: dict[str, list[Snapshot]] = {}
        self._written = 0

    def why_not(self, place: str, operation: str, target: Any) -> str:
        """Why the student's code must not answer here; empty where it may."""
        if self.expected is None:
            self.noted.setdefault(place, set())
            return ""
        if operation in _ALWAYS or place in self.expected:
            return ""
        asked = place.partition(" ")[2].removeprefix("getattr ").removeprefix("method ")
        return f"{short(target)} would answer ({asked}), where nothing of the solution is asked: compare plain values"

    def varied(self, place: str, value: Any) -> Any:
        """The value, or the one that is to be tried in its place."""
        return self.vary[place](value) if place in self.vary else value

    def came(self, place: str, value: Any) -> None:
        position = place.partition(".")[2].partition(" ")[0]
        self._note(place, ["ended"] if position in self.unused else snapshot(value))

    def changed(self, place: str, value: Any) -> None:
        """What an operation at a place has made of an object that both sides hold."""
        self._note(f"{place} changes", snapshot(value))

    def stopped(self, place: str, error: BaseException) -> None:
        self._note(place, raised(error))

    def holds(self, name: str, value: Any) -> None:
        """What a name that the cell reads is bound to; once for as long as that is the same."""
        now, before = snapshot(value), self.visits.get(f"name {name}", ())
        if not before or before[-1] != now:
            self._note(f"name {name}", now)

    def printed(self, text: str) -> None:
        """While the test listens to what is printed."""
        self._note("printed", ["text", text])

    def _note(self, place: str, what: Snapshot) -> None:
        text = json.dumps(what)
        self._written += len(text)
        kept = what if self._written <= _MAX_WRITTEN else ["hash", hashlib.sha256(text.encode()).hexdigest()]
        self.visits.setdefault(place, []).append(kept)

    def was(self, place: str, what: str) -> bool:
        """Whether ``what`` was noted there; true, and noted, while the solution runs."""
        if self.expected is None:
            self.noted.setdefault(place, set()).add(what)
            return True
        return what in self.expected.get(place, ())


def place_of(namespace: Mapping[str, Any], part: int, operation: str, args: Sequence[Any]) -> str:
    """The expression of the cell that is evaluated, the one within the test's own functions, and the operation."""
    name = f" {args[1]}" if operation in _NAMED and len(args) > 1 and isinstance(args[1], str) else ""
    found = [_position(frame.f_code, frame.f_lasti) for frame in _frames_in(namespace)]
    return f"{part}.{'/'.join(dict.fromkeys([*found[-1:], *found[:1]]))} {operation}{name}"


def line_in(namespace: Mapping[str, Any]) -> int:
    """The line of the cell that is executed; 0 for none."""
    return next((frame.f_lineno for frame in reversed(list(_frames_in(namespace)))), 0)


def _frames_in(namespace: Mapping[str, Any]) -> Iterator[FrameType]:
    """Those of the cell and of the functions that cells made, the innermost first."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != "autograder.tester.cell":
        if frame.f_globals is namespace:
            yield frame
        frame = frame.f_back


@lru_cache(maxsize=4096)
def _position(code: CodeType, instruction: int) -> str:
    line, _, start, end = next(islice(code.co_positions(), instruction // 2, None))
    return f"{line}:{start}-{end}"


def may_change(value: Any) -> bool:
    """Whether it is data that code can change in place, and not too much to be told with each answer."""
    if not isinstance(kind_of(type(value)), SharedKind) or link_of(value) is not None:
        return False
    parts = list(islice(parts_of(value), _MAX_TOLD + 1))
    sizes = (one.shape for one in parts if hasattr(one, "shape"))
    return len(parts) + sum(map(math.prod, sizes)) <= _MAX_TOLD


def parts_of(value: Any) -> Iterator[Any]:
    """The value, and what the containers in it hold. What a class of the student's says of itself is not asked."""
    left, seen = [value], set()
    while left:
        yield (one := left.pop())
        kind = next((base for base in _CONTAINERS if base in type.__getattribute__(type(one), "__mro__")), None)
        if kind is not None and id(one) not in seen:
            seen.add(id(one))
            left += kind.__iter__(one) if kind is not dict else (*dict.keys(one), *dict.values(one))

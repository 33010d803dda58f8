"""What the student's code may answer at each place of a test: data where the solution gave data, objects where it gave
objects. A place is an expression of the cell and an operation.

While the instructor's solution runs, what came is noted. In a submission's run every operation must have been one of
the solution's, and what comes must be of a kind that came from the solution. So an object of a student's class never
answers for a list, its operators never see a value of the test that no operator of the solution has seen, and an empty
array, which equals everything, does not pass for one with values.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType, ModuleType
from typing import Any

from autograder.remote.handle import link_of, short

#: Place -> what came there from the solution: names of types, and the remarkable kinds below.
Expected = Mapping[str, Sequence[str]]

#: Operations that are the student's in any case: what an object shows of itself, and what it is an instance of.
_ALWAYS = frozenset(("__repr__", "__str__", "__format__", "__hash__", "__dir__", "isinstance", "issubclass"))
_NAMED = frozenset(("getattr", "setattr", "delattr", "method"))
_OBJECT, _EMPTY, _MASKED, _MISSING, _NAN = "an object", "nothing in it", "masked numbers", "missing values", "nan"
_PRIVATE = "private names"
_SAID = {
    _EMPTY: "an empty {} came, which equals everything",
    _MASKED: "a {} with masked numbers came, over which comparisons pass",
    _MISSING: "a {} with missing values came, over which comparisons pass",
    _NAN: "a {} with nan came, which no comparison finds too large",
    _PRIVATE: "a {} with private names in braces came, which a template would look up",
}
_CONTAINERS: tuple[Any, ...] = (list, tuple, dict, set, frozenset, deque)
_SIZED: tuple[Any, ...] = (*_CONTAINERS, str, bytes, bytearray, range)
_MAY_BE_NAN = {complex, Decimal}
_MAX_LOOKED_AT = 100_000
#: In a format's field, what reads a private attribute or key.
_LOOKS_UP = re.compile(r"\{[^{}]*[.\[]_")
#: Types of pandas' columns whose comparisons leave out what is missing; in others it differs from everything.
_MASKING = re.compile(r"(U?Int|Float)\d{1,2}|boolean|string")


class Places:
    """expected: what the solution gave; without, everything is allowed and noted."""

    def __init__(self) -> None:
        self.expected: Expected | None = None
        self.noted: dict[str, set[str]] = {}

    def why_not(self, place: str, operation: str, target: Any) -> str:
        """Why the student's code must not answer here; empty where it may."""
        if self.expected is None:
            self.noted.setdefault(place, set())  # it may raise an exception there
            return ""
        if operation in _ALWAYS or place in self.expected:
            return ""
        asked = place.partition(" ")[2].removeprefix("getattr ").removeprefix("method ")
        return f"{short(target)} would answer ({asked}), where nothing of the solution is asked: compare plain values"

    def why_wrong(self, place: str, value: Any) -> str:
        """Why what came cannot be taken, where the solution gave something else; empty where it can."""
        came = list(kinds_of(value))
        if self.expected is None:
            self.noted.setdefault(place, set()).update(came)
            return ""
        usual = self.expected.get(place, ())
        if not usual:  # the solution raised an exception there, or the place is nobody's to judge
            return ""
        strange = next((kind for kind in came if kind in (_OBJECT, *_SAID) and kind not in usual), "")
        if strange == _OBJECT:
            wanted = next((kind for kind in usual if kind not in _SAID), "a value")
            return f"expected {_article(wanted)}, but {short(next(filter(_is_object, parts_of(value))))} came"
        return _SAID[strange].format(came[0]) if strange else ""

    def why_changed(self, place: str, value: Any) -> str:
        """Why a value that came before must not become this one by the operation at a place; empty where it may."""
        came, changes = list(kinds_of(value)), f"{place} changes"
        if self.expected is None:
            self.noted.setdefault(changes, set()).update(came)
            return ""
        usual = self.expected.get(changes, ())
        return next((_SAID[kind].format(came[0]) for kind in came if kind in _SAID and kind not in usual), "")

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


def kinds_of(value: Any) -> Iterator[str]:
    """Its type, or that it is an object of the student's; then what is remarkable about it or about what it holds."""
    if _is_object(value):
        yield "a module" if "module" in _about(value) else _OBJECT
        return
    yield "a module" if isinstance(value, ModuleType) else type(value).__name__
    yield from dict.fromkeys(kind for one in islice(parts_of(value), _MAX_LOOKED_AT) if (kind := _remarkable(one)))


def parts_of(value: Any) -> Iterator[Any]:
    """The value, and what the containers in it hold. What a class of the student's says of itself is not asked."""
    left, seen = [value], set()
    while left:
        yield (one := left.pop())
        kind = next((base for base in _CONTAINERS if base in type.__getattribute__(type(one), "__mro__")), None)
        if kind is not None and id(one) not in seen:
            seen.add(id(one))
            left += kind.__iter__(one) if kind is not dict else (*dict.keys(one), *dict.values(one))


def _remarkable(value: Any) -> str:
    cls = type(value)
    if _is_object(value):
        return _OBJECT
    bases = type.__getattribute__(cls, "__mro__")
    kind = next((base for base in _SIZED if base in bases), None)
    if kind is not None:
        empty = not (value if kind is range else kind.__len__(value))  # the length of a range may be beyond len()
        return _EMPTY if empty else _PRIVATE if kind is str and _LOOKS_UP.search(value) else ""
    if float in bases or cls in _MAY_BE_NAN:
        return _NAN if value != value else ""
    return _of_array(value) if cls.__module__.partition(".")[0] in ("numpy", "torch", "pandas") else ""


def _of_array(value: Any) -> str:
    if 0 in tuple(getattr(value, "shape", ())):
        return _EMPTY
    if hasattr(value, "hardmask") and bool(getattr(value.mask, "any", bool)()):
        return _MASKED
    columns = [one for _, one in value.items()] if hasattr(value, "columns") else [value]
    return next(filter(None, map(_lacking, columns)), "")


def _lacking(column: Any) -> str:
    """Whether it has values that comparisons leave out, or find neither too large nor too small."""
    dtype = getattr(column, "dtype", None)
    if _MASKING.fullmatch(str(dtype)):
        return _MISSING if column.isna().any() else ""
    numbers = getattr(dtype, "kind", "") in tuple("fcmM") or type(column).__module__ == "torch" or dtype is None
    return _NAN if numbers and bool(getattr(column != column, "any", lambda: column != column)()) else ""


def _is_object(value: Any) -> bool:
    return "k" in _about(value)


def _about(value: Any) -> Mapping[str, Any]:
    link = link_of(value)
    return link.about if link is not None else {}


def _article(kind: str) -> str:
    return kind if " " in kind else f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"

"""Calls of the solution's functions and methods, recorded while the exercise's own cells run."""

import copy
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

#: Of one function so many calls are kept: those with different arguments.
MAX_CALLS = 24
MAX_BYTES = 4 << 20


@dataclass
class Call:
    """One call. name: ``function`` or ``Class.method``. made: the arguments of ``Class``; None for a function.

    size: bytes of the arguments, and of the weights of the module whose method it is.
    """

    name: str
    arguments: dict[str, Any]
    made: dict[str, Any] | None = None
    source: str = "as called"
    size: int = 0


@dataclass
class Recorder:
    """Keeps the calls of code that was compiled from the files ``names``, in the order in which they came."""

    names: tuple[str, ...]
    classes: frozenset[str]
    calls: list[Call] = field(default_factory=list)
    _made: dict[int, tuple[Any, str, dict[str, Any]]] = field(default_factory=dict)
    _owners: list[tuple[Call, Any]] = field(default_factory=list)
    _seen: dict[str, set[bytes]] = field(default_factory=dict)

    @contextmanager
    def recording(self) -> Iterator[None]:
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            for call, one in self._owners:  # only now: what __init__ makes is not there when it is called
                call.size += _weight(one)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not frame.f_code.co_filename.endswith(self.names):
            return
        name = frame.f_code.co_qualname
        if "<" in name:
            return
        sys.setprofile(None)
        try:
            self._keep(name, frame)
        finally:
            sys.setprofile(self._profile)

    def _keep(self, name: str, frame: FrameType) -> None:
        code = frame.f_code
        words = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if code.co_flags & 0b1100:  # *args or **kwargs: the solution's own functions rarely have them
            return
        given = {word: frame.f_locals[word] for word in words}
        owner, _, method = name.rpartition(".")
        if not owner:
            self._add(Call(name, given))
        elif owner in self.classes and words:
            one = given.pop(words[0])
            if method == "__init__":
                if id(one) not in self._made:
                    self._made[id(one)] = (one, type(one).__qualname__, _copied(given) or {})
                    self._add(Call(f"{type(one).__qualname__}.__init__", {}, given), one)
            elif id(one) in self._made:
                _, kind, made = self._made[id(one)]
                self._add(Call(f"{kind}.{method}", given, made), one)

    def _add(self, call: Call, one: Any = None) -> None:
        seen = self._seen.setdefault(call.name, set())
        if len(seen) >= MAX_CALLS:
            return
        try:
            data = pickle.dumps((call.arguments, call.made))
        except Exception:  # a stand-in of the checks, a lambda: such a call cannot be made again
            return
        if len(data) > MAX_BYTES or data in seen:
            return
        seen.add(data)
        arguments, made = copy.deepcopy((call.arguments, call.made))
        self.calls.append(Call(call.name, arguments, made, call.source, len(data)))
        self._owners.append((self.calls[-1], one))


def _copied(given: dict[str, Any]) -> dict[str, Any] | None:
    try:
        copied: dict[str, Any] = copy.deepcopy(given)
        return copied
    except Exception:
        return None


def _weight(one: Any) -> int:
    """Bytes of a module's weights; 0 of anything else."""
    try:
        return sum(weight.numel() * weight.element_size() for weight in one.parameters())
    except Exception:
        return 0

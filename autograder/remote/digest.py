"""A short description of a value: two of one value are the same, in whichever kernel they are made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sized
from types import ModuleType
from typing import Any

from autograder.remote.classes import link_of
from autograder.remote.describe import crosses_by_name
from autograder.remote.kinds import CannotCross
from autograder.remote.names import MAIN, find_class, name_of
from autograder.remote.shared import SharedObjects
from autograder.remote.wire import Encoder

#: Bytes of numbers, and parts of a value, of which every one is described; of more only their number.
MAX_BYTES = 8 << 20
MAX_PARTS = 100_000
_SETS = {"set", "frozenset"}
#: What goes on whenever it is used: that it is not what it was says nothing.
_GOING_ON = {"Random", "numpy generator", "numpy RandomState"}


def digest_of(namespace: Mapping[str, Any], name: str) -> str | None:
    """None where there is no such name. What is no data is described by its type or name alone. Raises nothing."""
    if name not in namespace:
        return None
    value = namespace[name]
    try:
        if _is_large(value):
            return _extent(value)
        encoder = _Bounded(SharedObjects(0), _Alone(namespace))
        content = [encoder.node(value), encoder.close()]
        return hashlib.sha256(json.dumps(_ordered(content)).encode()).hexdigest()
    except _TooMuch:
        return _extent(value)
    except Exception:
        return "no data"


def _named(value: Any) -> str:
    """Modules, functions and classes by their names, all else by its type."""
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    named = value if callable(value) and hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', None)}.{named.__qualname__}"


def _extent(value: Any) -> str:
    shape = getattr(value, "shape", None) or (len(value) if isinstance(value, Sized) else None)
    return f"large {type(value).__name__} {shape}"[:100]


def _is_large(value: Any) -> bool:
    """Told beforehand, so that no time is spent on it."""
    if type(value) not in (list, tuple, dict):
        return _bytes(value) > MAX_BYTES
    inside = value.values() if type(value) is dict else value
    return len(value) > MAX_PARTS or sum(map(_bytes, inside)) > MAX_BYTES


def _bytes(value: Any) -> int:
    """What an array, tensor or frame holds."""
    if type(value).__module__.partition(".")[0] not in ("numpy", "pandas", "torch", "polars"):
        return 0
    types = value.dtypes if hasattr(value, "columns") else [getattr(value, "dtype", None)]
    if any(getattr(one, "kind", "") == "O" for one in types) and _size(value) > MAX_PARTS:
        return MAX_BYTES + 1  # objects, each of which is described
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    usage = value.memory_usage() if hasattr(value, "memory_usage") else 0
    return int(usage.sum() if hasattr(usage, "sum") else usage)


def _size(value: Any) -> int:
    size = getattr(value, "size", 0)
    return size if isinstance(size, int) else 0


def _ordered(node: Any) -> Any:
    """The same content with the members of sets in one order, and without the state of random generators."""
    if isinstance(node, dict):
        return {key: _ordered(value) for key, value in node.items()}
    if not isinstance(node, list):
        return node
    inside = [_ordered(one) for one in node]
    if len(inside) > 1 and isinstance(inside[0], str):
        if inside[0] in _GOING_ON:
            return inside[0]
        if inside[0] in _SETS and isinstance(inside[1], list):
            inside[1] = sorted(inside[1], key=json.dumps)
    return inside


class _TooMuch(BaseException):
    """The value has too many parts to describe each."""


class _Bounded(Encoder):
    def node(self, value: Any) -> Any:
        if self._count > MAX_PARTS:
            raise _TooMuch
        return super().node(value)


class _Alone:
    """A side that hands nothing over."""

    masks = missing = True

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def namespace(self) -> Mapping[str, Any]:
        return self._namespace

    def known_class(self, cls: type) -> bool:
        module, qualname = name_of(cls)
        return module == MAIN and find_class(module, qualname, self._namespace) is cls

    def home(self, value: Any) -> dict[str, Any] | None:
        return {} if link_of(value) is not None else None  # the other side's

    def describe(self, value: Any, encoder: Encoder) -> Any:
        if isinstance(value, type) and (crosses_by_name(value) or self.known_class(value)):
            return ["type", list(name_of(value))]
        return _named(value)

    def subclass(self, value: Any, encoder: Encoder) -> dict[str, Any] | None:
        return {"class": list(name_of(type(value)))}

    def receive(self, number: Any, decoder: Any) -> Any:
        raise CannotCross("nothing is received here")

    def own(self, number: Any) -> Any:
        raise CannotCross("nothing is received here")

    def receive_subclass(self, about: Mapping[str, Any], base: type, decoder: Any) -> tuple[type, Any] | None:
        return None

"""The kinds of data that can cross between two kernels, by exact type and by tag."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class CannotCross(ValueError):
    """A value, or a part of it, is no data. The message says which."""


@dataclass(frozen=True)
class InlineKind:
    """Values that cannot change: they are written where they occur.

    encode: (value, encoder) -> payload; decode: (payload, decoder) -> value.
    """

    tag: str
    encode: Callable[[Any, Any], Any]
    decode: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class SharedKind:
    """Values that can change: both sides hold one each, under one number.

    encode: (value, encoder) -> payload; shell: (payload, decoder) -> an object, still empty;
    fill: (object, payload, decoder) replaces its content. Content that is hashed is filled last.
    whole: the shell holds its content already; it is made when all other shells are.
    """

    tag: str
    encode: Callable[[Any, Any], Any]
    shell: Callable[[Any, Any], Any]
    fill: Callable[[Any, Any, Any], None]
    hashes: bool = False
    whole: bool = False


Kind = InlineKind | SharedKind

_by_type: dict[type, Kind] = {}
_by_tag: dict[str, Kind] = {}
_finders: list[Callable[[type], Kind | None]] = []


def register(kind: Kind, *types: type) -> None:
    _by_tag[kind.tag] = kind
    for one in types:
        _by_type[one] = kind


def register_finder(finder: Callable[[type], Kind | None]) -> None:
    """For types of libraries that may never be imported: asked for each type that nobody knows."""
    _finders.append(finder)


def kind_of(cls: type) -> Kind | None:
    """The kind of exactly this type; None for others, subclasses among them."""
    found = _by_type.get(cls)
    if found is None and _may_be_of_a_library(cls):
        found = next((kind for finder in _finders if (kind := finder(cls)) is not None), None)
        if found is not None:
            _by_type[cls] = found
    return found


def kind_of_base(cls: type) -> tuple[type, Kind] | None:
    """The nearest base class that is data, with its kind: what a subclass holds is read as that."""
    for base in cls.__mro__[1:]:
        if base is not object and (kind := kind_of(base)) is not None:
            return base, kind
    return None


def kind_tagged(tag: Any) -> Kind:
    """Raises CannotCross for a tag that nobody knows."""
    found = _by_tag.get(tag) if isinstance(tag, str) else None
    if found is None:
        raise CannotCross(f"expected a known kind of data, but got {str(tag)[:40]!r}")
    return found


def _may_be_of_a_library(cls: type) -> bool:
    return getattr(cls, "__module__", "builtins") not in ("builtins", "__main__")

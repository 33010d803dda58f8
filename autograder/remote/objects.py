"""Objects of classes that both sides have: dataclasses, named tuples, enums and plain classes of the course's cells.

They cross by what they hold. No ``__init__``, ``__setattr__`` or ``__new__`` of theirs is called.
"""

from inspect import getattr_static
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from autograder.remote.kinds import CannotCross, InlineKind, SharedKind, kind_of_base, register
from autograder.remote.names import find_class, name_of
from autograder.remote.plain import expect

_MISSING = object()


def _slots(cls: type) -> dict[str, MemberDescriptorType]:
    return {
        name: member
        for base in cls.__mro__
        for name, member in base.__dict__.items()
        if isinstance(member, MemberDescriptorType)
    }


def read_state(value: Any) -> dict[str, Any]:
    """What an object's slots and ``__dict__`` hold."""
    state = {}
    for name, member in _slots(type(value)).items():
        try:
            state[name] = member.__get__(value)
        except AttributeError:
            continue
    own = getattr_static(type(value), "__dict__", None)
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    return state | dict(own)


def write_state(target: Any, state: dict[Any, Any]) -> None:
    """Raises CannotCross for a name under which the class has a method or a property: data must not hide them."""
    cls, slots = type(target), _slots(type(target))
    for name in state:
        if name not in slots and is_behaviour(getattr_static(cls, expect(name, str), _MISSING)):
            raise CannotCross(f"an object of {cls.__name__} holds {name!r} in place of what its class has")
    for name, member in slots.items():
        if name in state:
            member.__set__(target, state[name])
    others = {name: value for name, value in state.items() if name not in slots}
    try:
        own = object.__getattribute__(target, "__dict__")
    except AttributeError:
        own = {}
    own.clear()
    if others and object.__getattribute__(target, "__class__").__dictoffset__ == 0:
        raise CannotCross(f"an object of {cls.__name__} has no place for {sorted(others)[0]!r}")
    own.update(others)


def is_behaviour(member: Any) -> bool:
    if member is _MISSING or isinstance(member, GetSetDescriptorType | type):
        return False
    return callable(member) or hasattr(type(member), "__get__")


def _class(payload: Any, decoder: Any) -> type:
    cls = find_class(payload[0], payload[1], decoder.side.namespace())
    if cls is None or not decoder.side.known_class(cls):
        raise CannotCross(f"expected a class of the course's own cells, but got {str(payload[1])[:80]}")
    return cls


def _write(value: Any, encoder: Any) -> list[Any]:
    cls = type(value)
    base = kind_of_base(cls)
    content = None if base is None else base[1].encode(value, encoder)
    return [*name_of(cls), _pairs(read_state(value), encoder), content]


def _pairs(state: dict[str, Any], encoder: Any) -> list[Any]:
    return [[name, encoder.node(value)] for name, value in state.items()]


def _state(payload: Any, decoder: Any) -> dict[str, Any]:
    return {expect(name, str): decoder.node(value) for name, value in payload}


def _shell(payload: Any, decoder: Any) -> Any:
    cls = _class(payload, decoder)
    base = kind_of_base(cls)
    if base is not None and not isinstance(base[1], SharedKind):
        raise CannotCross(f"an object of {cls.__name__} cannot change")
    made: Any = (object if base is None else base[0]).__new__(cls)  # type: ignore[call-overload]
    return made


def _fill(target: Any, payload: Any, decoder: Any) -> None:
    if type(target) is not _class(payload, decoder):
        raise CannotCross(f"expected an object of {type(target).__name__}, but got one of {payload[1]}")
    base = kind_of_base(type(target))
    if base is not None:
        base[1].fill(target, payload[3], decoder)  # type: ignore[union-attr]
    write_state(target, _state(payload[2], decoder))


def _read_known(payload: Any, decoder: Any) -> Any:
    cls = _class(payload, decoder)
    base = kind_of_base(cls)
    if base is None or isinstance(base[1], SharedKind):
        raise CannotCross(f"an object of {cls.__name__} can change")
    value: Any = base[0].__new__(cls, base[1].decode(payload[3], decoder))
    write_state(value, _state(payload[2], decoder))
    return value


def _read_enum(payload: Any, decoder: Any) -> Any:
    return _class(payload, decoder).__members__[payload[2]]  # type: ignore[attr-defined]


def _write_enum(value: Any, encoder: Any) -> list[Any]:
    if value.name not in type(value).__members__:
        raise CannotCross(f"{value!r} is no single member of its enumeration")
    return [*name_of(type(value)), value.name]


register(SharedKind("instance", _write, _shell, _fill))
register(InlineKind("known", _write, _read_known))
register(InlineKind("enum", _write_enum, _read_enum))

"""From values to JSON and back. Nothing of the other side is ever run: no pickle, no import, no constructor of its own.

A node is ``null``, a bool, a short int, a float, a str, or one of

``[tag, payload]``    a value of an inline kind
``{"r": number}``     an object that both sides hold
``{"h": number, …}``  an object of the sender that is no data: a handle
``{"back": number}``  an object of the receiver, of which the sender holds a handle
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from autograder.remote import names
from autograder.remote.kinds import CannotCross, InlineKind, SharedKind, kind_of, kind_of_base, kind_tagged, register

#: How deep tuples and other values that cannot change may stand in each other; lists, dicts and objects have no limit.
MAX_DEPTH = 100
MAX_NODES = 2_000_000
_MAX_PLAIN_INT = 1 << 63


class Side(Protocol):
    """What one kernel knows of the other."""

    def known_class(self, cls: type) -> bool:
        """Whether the other side has this class of a cell of the course, too: its objects cross by their content."""

    def home(self, value: Any) -> dict[str, Any] | None:
        """The node of a value that belongs to the other side; None for one's own."""

    def describe(self, value: Any, encoder: "Encoder") -> Any:
        """The node of a value that is no data."""

    def subclass(self, value: Any, encoder: "Encoder") -> dict[str, Any] | None:
        """What to say about an object whose class derives from a kind of data; None: its content alone."""

    def receive(self, number: Any, decoder: "Decoder") -> Any:
        """The handle that the other side's ``describe`` numbered so."""

    def own(self, number: Any) -> Any:
        """The object that comes home."""

    def receive_subclass(self, about: Mapping[str, Any], base: type, decoder: "Decoder") -> tuple[type, Any] | None:
        """The class to make of what ``subclass`` said on the other side and what to note in it; None: the base."""

    def namespace(self) -> Mapping[str, Any]:
        """Where classes of ``__main__`` are found."""


def tag_of_known(cls: type) -> str:
    """The tag of objects of a class of the course that both sides have."""
    if names.is_enum(cls):
        return "enum"
    if issubclass(cls, BaseException):
        return "exception"
    base = kind_of_base(cls)
    return "instance" if base is None or isinstance(base[1], SharedKind) else "known"


class Encoder:
    """Writes one message. ``close`` it when all its nodes are made: then the objects follow that both sides hold."""

    def __init__(self, shared: "SharedObjects", side: Side) -> None:
        self.side = side
        self._shared, self._depth, self._count = shared, 0, 0
        self._new: list[int] = []
        #: Number -> description of the handles that this message names for the first time.
        self.handles: dict[int, Any] = {}

    def node(self, value: Any) -> Any:
        """Raises CannotCross where the value is too deep or too much."""
        self._count += 1
        if self._count > MAX_NODES:
            raise CannotCross(f"the value has more than {MAX_NODES:,} parts, too many to be handed over")
        cls = type(value)
        if value is None or cls is bool or cls is float or (cls is int and -_MAX_PLAIN_INT < value < _MAX_PLAIN_INT):
            return value
        if cls is str and value.isascii():
            return value
        number = self._shared.number_of(value)
        if number is not None:
            return {"r": number}
        kind = kind_of(cls)
        if isinstance(kind, SharedKind):
            return self._new_number(value)
        try:
            return [kind.tag, self._payload(kind, value)] if kind is not None else self._other(value, cls)
        except Exception:
            if self._depth or self._count > MAX_NODES:
                raise
            return self.side.describe(value, self)  # data that is too deep, or of a type that nobody here knows

    def nodes(self, values: Iterable[Any]) -> list[Any]:
        return [self.node(value) for value in values]

    def _payload(self, kind: InlineKind | SharedKind, value: Any) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CannotCross(f"the value is nested more than {MAX_DEPTH} levels deep, too deep to be handed over")
        try:
            return kind.encode(value, self)
        finally:
            self._depth -= 1

    def _other(self, value: Any, cls: type) -> Any:
        if (home := self.side.home(value)) is not None:
            return home
        if isinstance(value, type):
            return self.side.describe(value, self)
        if self.side.known_class(cls):
            kind = kind_tagged(tag_of_known(cls))
            if isinstance(kind, SharedKind):
                return self._new_number(value)
            return [kind.tag, self._payload(kind, value)]
        if isinstance(value, BaseException):
            return ["exception", self._payload(kind_tagged("exception"), value)]
        base = kind_of_base(cls)
        if base is None:
            return self.side.describe(value, self)
        if isinstance(base[1], SharedKind):
            return self._new_number(value)
        about = self.side.subclass(value, self)
        content = [base[1].tag, self._payload(base[1], value)]
        return content if about is None else ["subclass", [content, about]]

    def _new_number(self, value: Any) -> dict[str, int]:
        number = self._shared.add(value)
        self._new.append(number)
        return {"r": number}

    def close(self) -> list[list[Any]]:
        """-> [[number, entry], …]: the shared objects that are new, or have changed since the other side heard of them.

        Raises CannotCross; then nothing that was new is kept.
        """
        try:
            changed: dict[int, Any] = {}
            known = set(self._new)
            for number in [number for number in self._shared.numbers() if number not in known]:
                self._compare(number, changed)
            for number in self._new:  # which grows while it is gone through
                self._compare(number, changed)
        except BaseException:
            self._shared.forget(self._new)
            raise
        for number, entry in changed.items():
            self._shared.remember(number, entry)
        return [[number, changed[number]] for number in sorted(changed)]

    def _compare(self, number: int, changed: dict[int, Any]) -> None:
        entry = self._entry(self._shared.object(number))
        if entry != self._shared.entry(number):
            changed[number] = entry

    def _entry(self, value: Any) -> list[Any]:
        """What an object holds; where that cannot cross, its handle."""
        if (home := self.side.home(value)) is not None and kind_of_base(type(value)) is None:
            return [OPAQUE, home]
        try:
            return self._content(value)
        except Exception:
            if self._count > MAX_NODES:
                raise
            self._depth = 0
            return [OPAQUE, self.side.describe(value, self)]

    def _content(self, value: Any) -> list[Any]:
        cls = type(value)
        kind, about = kind_of(cls), None
        if kind is None and self.side.known_class(cls):
            kind = kind_tagged("instance")
        elif kind is None:
            base = kind_of_base(cls)
            if base is None:
                raise CannotCross(f"an object of {cls.__name__} is no data any more")
            kind, about = base[1], self.side.subclass(value, self)
        payload = self._payload(kind, value)
        return [kind.tag, payload] if about is None else [kind.tag, payload, about]


def as_subclass(content: Any, about: Any, decoder: "Decoder") -> Any:
    """An object of the class that the other side names, which holds the content."""
    base = type(content)
    found = decoder.side.receive_subclass(about, base, decoder)
    if found is None:
        return content
    cls, link = found
    shared = isinstance(kind_of(base), SharedKind)
    made: Any = base
    value: Any = made.__new__(cls) if shared else made.__new__(cls, content)
    if link is not None:
        object.__setattr__(value, LINK, link)
    return value


def _read_subclass(payload: Any, decoder: "Decoder") -> Any:
    content, about = payload
    value = decoder.node(content)
    return as_subclass(value, about, decoder)


#: The tag of an object whose content cannot cross, as that of a frame with columns of an unknown type.
OPAQUE = "opaque"
register(
    SharedKind(
        OPAQUE, lambda value, _: value, lambda payload, decoder: decoder.node(payload), lambda *_: None, whole=True
    )
)


#: The attribute of an object with content in which its handle is noted.
LINK = "_remote_link"
register(InlineKind("subclass", lambda value, _: value, _read_subclass))


class Decoder:
    """Reads one message of the other side. All that it is given is distrusted."""

    def __init__(self, shared: "SharedObjects", side: Side) -> None:
        self.side = side
        self._shared, self._depth = shared, 0

    def node(self, data: Any) -> Any:
        """Raises CannotCross, or another Exception, where the data is no message."""
        if data is None or isinstance(data, bool | int | float | str):
            return data
        if isinstance(data, list):
            tag, payload = data
            kind = kind_tagged(tag)
            if not isinstance(kind, InlineKind):
                raise CannotCross(f"expected a value that cannot change, but got {tag}")
            return self._deeper(kind, payload)
        if "r" in data:
            return self._shared.object(data["r"])
        return self.side.own(data["back"]) if "back" in data else self.side.receive(data["h"], self)

    def nodes(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            raise CannotCross("expected a list of values")
        return [self.node(entry) for entry in data]

    def _deeper(self, kind: InlineKind, payload: Any) -> Any:
        self._depth += 1
        if self._depth > 2 * MAX_DEPTH:
            raise CannotCross(f"the value is nested more than {MAX_DEPTH} levels deep")
        try:
            return kind.decode(payload, self)
        finally:
            self._depth -= 1

    def open(self, entries: Any) -> list[Any]:
        """Make the objects that both sides hold, and change those that have changed, which are returned."""
        told: list[tuple[SharedKind, int, Any]] = []
        for number, entry in entries:
            kind = kind_tagged(entry[0])
            if not isinstance(kind, SharedKind):
                raise CannotCross(f"expected an object that can change, but got {kind.tag}")
            told.append((kind, number, entry))
        made = set()
        for kind, number, entry in sorted(told, key=lambda one: (one[0].whole, -one[1])):
            if not self._shared.holds(number):
                self._shared.add(self._shell(kind, entry), number)
                made.add(number)
        for kind, number, entry in sorted(told, key=lambda one: one[0].hashes):
            if not (kind.whole and number in made):
                self._fill(kind, self._shared.object(number), entry[1])
        return [self._shared.object(number) for _, number, _ in told if number not in made]

    def _shell(self, kind: SharedKind, entry: Any) -> Any:
        shell = kind.shell(entry[1], self)
        if len(entry) < 3 or not isinstance(entry[2], dict):
            return shell
        return as_subclass(shell, entry[2], self)

    def _fill(self, kind: SharedKind, target: Any, payload: Any) -> None:
        own = kind_of(type(target)) or (kind_of_base(type(target)) or (None, None))[1]
        if own is not kind and kind.tag not in ("instance", OPAQUE):
            raise CannotCross(f"expected {getattr(own, 'tag', 'an object')}, but got {kind.tag}")
        kind.fill(target, payload, self)


class SharedObjects:
    """One side's table. The tester gives even numbers, the student's kernel odd ones."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._parity = first % 2
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._entries: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def add(self, value: Any, number: Any = None) -> int:
        """number: the one that the other side gave; without it, a new one."""
        if number is None:
            number, self._next = self._next, self._next + 2
        elif type(number) is not int or number % 2 == self._parity:
            raise CannotCross("expected a number that the other side may give")
        self._objects[number], self._numbers[id(value)] = value, number
        return number

    def number_of(self, value: Any) -> int | None:
        return self._numbers.get(id(value))

    def numbers(self) -> Iterable[int]:
        return self._objects.keys()

    def holds(self, number: Any) -> bool:
        return type(number) is int and number in self._objects

    def object(self, number: Any) -> Any:
        if not self.holds(number):
            raise CannotCross("expected an object that was handed over before")
        return self._objects[number]

    def entry(self, number: int) -> Any:
        """What the other side last heard of it."""
        return self._entries.get(number)

    def remember(self, number: int, entry: Any) -> None:
        self._entries[number] = entry

    def forget(self, numbers: Iterable[Any]) -> None:
        for number in numbers:
            if self.holds(number):
                self._numbers.pop(id(self._objects.pop(number)), None)
                self._entries.pop(number, None)

    def clear(self) -> None:
        self.forget(list(self._objects))

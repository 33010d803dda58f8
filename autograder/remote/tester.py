"""The tester's side: names of the student's kernel in the namespace of the tests."""

import copy
import importlib
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from contextlib import suppress
from inspect import Signature
from itertools import islice
from typing import Any

from autograder.remote import printed, random_state
from autograder.remote.classes import is_remote_class, link_of
from autograder.remote.connection import Connection, read_message
from autograder.remote.handle import USUAL_NAMES, RemoteDied, RemoteRefused
from autograder.remote.kinds import CannotCross, SharedKind, kind_of, kind_of_base
from autograder.remote.names import MAIN, name_of
from autograder.remote.objects import read_state, write_state
from autograder.remote.places import Places, may_change, parts_of, place_of
from autograder.remote.served import require_served
from autograder.remote.wire import Decoder, Encoder, tag_of_known

__all__ = ["Remote", "RemoteDied", "RemoteRefused"]

#: How many objects are watched on both sides for changes that a later call makes, or that the test makes.
MAX_WATCHED = 64
#: What a name is bound to is followed in any case, with as many of its parts.
MAX_PARTS = 100_000
#: Parts of an argument that are lent each by itself.
MAX_LENT = 1_000
#: What ends a loop of the test, or a generator, without a word.
_STEERING = (StopIteration, StopAsyncIteration, GeneratorExit)
_NOTHING, _CHANGED = object(), "changed"


class _Stale(RemoteDied):
    """The student's kernel is another one than before."""


class Remote(Connection):
    """The student's names, bound in the tester's namespace.

    ask: hands a request (JSON) to :func:`autograder.remote.student.answer` in the student's kernel and returns what it
    says. Raises RemoteDied where the kernel is gone.
    failures: what must cost the cell, whatever its code made of it: refused operations, and the end of the kernel.
    places: what came where; part: the piece of the cell that is executed; shown: where it prints, unless it listens.
    """

    careful = True

    def __init__(self, ask: Callable[[str], str], namespace: MutableMapping[str, Any]) -> None:
        super().__init__(ask, namespace, first=0)
        self._space = namespace
        self._session: str | None = None
        self._bound: set[str] = set()
        self._given: dict[str, Any] = {}  # what the names were bound to here
        self._read: frozenset[str] = frozenset()
        self._changed: list[Any] = []
        self._handed_at: list[tuple[str, list[Any]]] = []  # while the solution runs
        self._kept: set[str] = set()
        self.places, self.part, self.shown = Places(), 0, sys.stdout
        self._random = random_state.Told()
        self._shared_classes: set[str] = set()
        self.failures: list[str] = []

    def bind(self, names: Iterable[str], read: Collection[str] = (), given: Collection[str] = ()) -> None:
        """Bind these names anew: data as data, all else as handles; one that the student's kernel lacks is unbound.

        read: those of them that the cell reads, whose values reach it. given: trusted names; what the student's code
        makes of the objects that they hold there is noted, and never taken.

        Raises RemoteDied; names that were bound before and are not named now stay as they are and are not followed.
        """
        self._bound, self._given, self._read = set(names), {}, frozenset(read)
        self._kept = {name for name in given if may_change(self._space.get(name))}
        for name in self._bound:
            self._space.pop(name, None)
        try:
            self._ask_names()
        except _Stale:  # a kernel that was started anew has the names, but none of what the old one handed over
            self.failures.pop()
            self._ask_names()
        self._note_names(self._read)

    def _note_names(self, names: Collection[str]) -> None:
        for name in sorted(self._read.intersection(names)):
            if name in self._space:
                self.places.holds(name, self._space[name])
                self._space[name] = self.places.varied(f"name {name}", self._space[name])

    def _ask_names(self) -> None:
        self.exchange(lambda encoder: {"op": "names", "args": [], "kwargs": []})

    def ask(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        place = self._place(operation, args)
        if why := self.places.why_not(place, operation, args[0]):
            self.refuse(why)
        before, self._changed = dict(self._given), []
        args, kwargs = self._handed(f"{place} given", args, kwargs)
        try:
            value = super().ask(operation, *args, **kwargs)
        except (RemoteRefused, RemoteDied):
            raise
        except BaseException as error:
            self.places.stopped(place, error)
            if not isinstance(error, _STEERING) or self.places.was(place, f"raised {type(error).__name__}"):
                raise
            raise RuntimeError(f"the call raised {type(error).__name__}") from None
        finally:
            self._note_changes(place, before)
        used = bool(value) if operation == "__exit__" and link_of(value) is None else value  # Python asks no more of it
        self.places.came(place, used)
        return self.places.varied(place, value)

    def was_read(self, name: str, value: Any) -> None:
        if isinstance(value, Signature):
            value = [[one.name, int(one.kind), one.default is not one.empty] for one in value.parameters.values()]
        self.places.came(self._place("read", (None, name)), value)

    def _handed(self, place: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Copies of what the solution leaves as it is given: what a test compares with stays as it is."""
        lent = Lent(self)
        handed = {at: self._lend(f"{place} {at}", value, lent) for at, value in (*enumerate(args), *kwargs.items())}
        return tuple(handed[at] for at in range(len(args))), {name: handed[name] for name in kwargs}

    def _lend(self, place: str, value: Any, lent: "Lent") -> Any:
        """Each part by itself: of a list of lists the solution may change one."""
        if self.places.expected is None:
            self._handed_at.append((place, list(islice(parts_of(value), MAX_LENT))))
            return value
        if any(one.startswith(place) for one in self.places.expected):
            for number, part in enumerate(islice(parts_of(value), MAX_LENT)):
                if self.places.was(f"{place} {number}", _CHANGED):
                    lent.made[id(part)] = part, part
        return lent.copy(value)

    def _note_changes(self, place: str, before: Mapping[str, Any]) -> None:
        """What an operation changes of what both sides hold, and what names are bound to after it."""
        for value in self._changed if self.places.expected is None else ():
            for place_given, parts in self._handed_at:
                for number in (number for number, part in enumerate(parts) if part is value):
                    self.places.was(f"{place_given} {number}", _CHANGED)
        for value in self._changed:
            self.places.changed(place, value)
        self._note_names([name for name, value in self._given.items() if before.get(name) is not value])

    def changed(self, objects: list[Any]) -> None:
        self._changed += objects

    def _place(self, operation: str, args: tuple[Any, ...]) -> str:
        return place_of(self._space, self.part, operation, args)

    def may_ask(self, operation: str, *args: Any) -> bool:
        return not self.places.why_not(self._place(operation, args), operation, args[0])

    def may(self, operation: str, what: str) -> bool:
        return self.places.was(self._place(operation, ()), what)

    def refused(self, message: str) -> None:
        self.failures.append(message)

    def refuse(self, message: str) -> None:
        self.refused(message)
        raise RemoteRefused(message)

    def exchange(self, build: Callable[[Encoder], dict[str, Any]]) -> Any:
        dropped = self._unreachable()

        def message(encoder: Encoder) -> dict[str, Any]:
            return build(encoder) | {"forget": dropped}

        try:
            return super().exchange(message)
        except RemoteDied as error:
            self.failures.append(str(error))
            raise
        except CannotCross as error:
            self.refused(str(error))
            raise RemoteRefused(str(error)) from None

    def request(self, message: dict[str, Any], encoder: Encoder) -> dict[str, Any]:
        return super().request(message, encoder) | {
            "session": self._session, "names": sorted(self._bound | self._kept), "classes": self._class_names(),
            "random": self._random.to_tell(),
        }  # fmt: skip

    def _class_names(self) -> list[str]:
        return [
            value.__qualname__
            for value in list(self._space.values())
            if isinstance(value, type) and not is_remote_class(value) and value.__module__ == MAIN
        ]

    def pack(self, build: Callable[[Encoder], dict[str, Any]]) -> str:
        forgotten: list[int] = []

        def message(encoder: Encoder) -> dict[str, Any]:
            made = build(encoder)
            forgotten.extend(made.get("forget", []))
            return made

        text = super().pack(message)
        self.shared.forget(forgotten)
        return text

    def _unreachable(self) -> list[int]:
        """Objects that nobody can change any more here, and the oldest of too many."""
        bound = {id(one) for name in self._bound for one in islice(parts_of(self._space.get(name)), MAX_PARTS)}
        kept: list[int] = []
        dropped: list[int] = []
        for number in list(self.shared.numbers()):
            value = self.shared.object(number)
            lonely = sys.getrefcount(value) <= 3 and id(value) not in bound  # the table, ``value`` and the argument
            (dropped if lonely else kept).append(number)
        free = [number for number in kept if self._is_free(self.shared.object(number), bound)]
        return dropped + free[: max(0, len(free) - MAX_WATCHED)]

    @staticmethod
    def _is_free(value: Any, bound: set[int]) -> bool:
        return id(value) not in bound and link_of(value) is None

    def outcome(self, message: Any) -> Any:
        self._session = message.get("session")
        if message.get("stale"):
            self.reset()
            raise _Stale("the student's kernel ended and was started anew")
        if isinstance(message.get("classes"), list):
            self._shared_classes = {str(name) for name in message["classes"]}
        self._print(message.get("printed", []))
        return super().outcome(message)

    def known_class(self, cls: type) -> bool:
        return name_of(cls)[1] in self._shared_classes and super().known_class(cls)

    def heard(self, message: Any, decoder: Decoder) -> None:
        for name, node in dict(message.get("names", {})).items():
            if name in self._kept and node:
                self.places.holds(f"{name}, beside the answer", decoder.node(node[0]))
            if name not in self._bound or self._space.get(name, _NOTHING) is not self._given.get(name, _NOTHING):
                continue  # the test gave the name a value of its own
            self._space.pop(name, None)
            self._given.pop(name, None)
            if node:
                self._space[name] = self._given[name] = self._own_module(name, decoder.node(node[0]))

    @staticmethod
    def _own_module(name: str, value: Any) -> Any:
        """The tester's own module, where a cell of the student's imported one under its own or its usual name."""
        link = link_of(value)
        module = link.about.get("module") if link is not None else None
        if not isinstance(module, str) or (name != module and USUAL_NAMES.get(name) != module):
            return value
        try:
            return importlib.import_module(module)
        except Exception:
            return value

    def perform(self, operation: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What the student's code asks of an object of the test's."""
        require_served(operation, args, kwargs, self._space)
        return super().perform(operation, args, kwargs)

    def serve(self, message: Any) -> str:
        self._print(message.get("printed", []))
        return super().serve(message)

    def _print(self, parts: Any) -> None:
        """Again here. A test that listens has put a stream of its own in the place of ``shown``."""
        printed.replay(parts)
        text = "".join(text for stream, text in parts if stream != "stderr")
        if text and sys.stdout is not self.shown:
            self.places.printed(text)

    def answer(self, text: str) -> str:
        """The reply to a question of the student's code."""
        return self.serve(read_message(text))


_LIBRARIES = ("numpy", "torch", "pandas")


class Lent:
    """The copies of one call, where the solution leaves what it is given as it is: what a student's code does to its
    copy changes nothing that the test compares with. What is the same object in two arguments stays the same.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.made: dict[int, tuple[Any, Any]] = {}  # by the original's id, with it: so that the id stays its own

    def copy(self, value: Any) -> Any:
        """The value itself where it is no data, the student's own, or cannot be copied."""
        if id(value) not in self.made:
            number = self._connection.shared.number_of(value)
            made = value
            if number is None or number % 2 == 0:
                with suppress(Exception):
                    made = self._copy(value, type(value))
            self.made[id(value)] = value, made
        return self.made[id(value)][1]

    def _copy(self, value: Any, cls: type) -> Any:
        if cls in (tuple, frozenset):
            return cls(map(self.copy, value))
        if self._connection.known_class(cls) and tag_of_known(cls) == "instance" and kind_of_base(cls) is None:
            made: tuple[Any, Any] = (value, object.__new__(cls))
            self.made[id(value)] = made
            write_state(made[1], {name: self.copy(one) for name, one in read_state(value).items()})
            return made[1]
        if not isinstance(kind_of(cls), SharedKind):
            return value
        if cls.__module__.partition(".")[0] in _LIBRARIES:
            holds_objects = getattr(getattr(value, "dtype", None), "hasobject", False)
            return copy.copy(value) if holds_objects else copy.deepcopy(value)
        return self._container(value, cls)

    def _container(self, value: Any, cls: type) -> Any:
        if cls not in (list, set, deque) and not issubclass(cls, dict):
            return value  # a file or a generator: to move on in it is to change it
        made = copy.copy(value)
        self.made[id(value)] = value, made  # it may hold itself
        if cls in (list, deque):
            for at, one in enumerate(value):
                made[at] = self.copy(one)
        elif cls is not set:
            dict.update(made, {key: self.copy(one) for key, one in value.items()})
        return made

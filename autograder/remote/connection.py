"""One side of the conversation: both kernels ask and serve in the same way."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from autograder.remote import arrays, classes, containers, exceptions, frames, objects, plain, tensors
from autograder.remote.describe import about_class, about_function, about_object, crosses_by_name, is_function
from autograder.remote.exceptions import TRACE
from autograder.remote.handle import Link, RemoteDied, RemoteRefused
from autograder.remote.kinds import CannotCross, InlineKind, register
from autograder.remote.names import MAIN, find_class, name_of
from autograder.remote.operations import OPERATIONS
from autograder.remote.wire import LINK, Decoder, Encoder, SharedObjects

#: What a single message may be, in characters: not more than autograder.kernel.channels.MAX_DATA, which is passed on.
MAX_MESSAGE = 24 << 20


class OwnedObjects:
    """One side's objects of which the other side holds handles: each under one number, for as long as it is held."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._next = 1

    def number(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number, self._next = self._next, self._next + 1
            self._objects[number], self._numbers[id(value)] = value, number
        return number

    def object(self, number: Any) -> Any:
        if type(number) is not int or number not in self._objects:
            raise CannotCross("expected an object that was handed over before")
        return self._objects[number]

    def numbers(self) -> Iterable[int]:
        return self._objects.keys()

    def forget(self, numbers: Iterable[Any]) -> None:
        for number in numbers:
            if type(number) is int and number in self._objects:
                del self._numbers[id(self._objects.pop(number))]


class Connection:
    """send: hands a text to the other side and returns the text that it answers with."""

    #: Whether operations that could let the other side decide what is compared are refused.
    careful = False

    def __init__(self, send: Callable[[str], str], namespace: Mapping[str, Any], first: int) -> None:
        self._send, self._namespace, self._first = send, namespace, first
        self.reset()

    def reset(self) -> None:
        """Forget all that was said, as where the other kernel was started anew."""
        for handle in list(getattr(self, "_handles", {}).values()):
            link = classes.link_of(handle)
            if link is not None:
                link.ended = True
        self.shared, self.owned = SharedObjects(self._first), OwnedObjects()
        #: How many messages are being read: what they make must not ask, nor be taken for forgotten.
        self.reading = 0
        self._told: set[int] = set()
        self._descriptions: dict[int, dict[str, Any]] = {}
        self._handles: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self._classes: dict[int, type] = {}

    def may_ask(self, operation: str, *args: Any) -> bool:
        """Whether the other side may answer this here."""
        return True

    def may(self, operation: str, what: str) -> bool:
        """Whether the solution did so at this place."""
        return True

    def was_read(self, name: str, value: Any) -> None:
        """What the other side told of a function is looked at."""

    # what a message says

    def pack(self, build: Callable[[Encoder], dict[str, Any]]) -> str:
        """The text of a message. Raises CannotCross."""
        encoder = Encoder(self.shared, self)
        message = build(encoder)
        message["objects"] = encoder.close()
        message["handles"] = [[number, about] for number, about in encoder.handles.items()]
        text = json.dumps(message)
        if len(text) > MAX_MESSAGE:
            raise CannotCross(f"the value takes {len(text):,} characters, more than {MAX_MESSAGE:,}")
        self._told.update(encoder.handles)
        return text

    def unpack(self, message: Mapping[str, Any], read: Callable[[Decoder], Any]) -> Any:
        """What ``read`` makes of a message. Raises CannotCross for whatever is no message."""
        self.reading += 1
        try:
            for number, about in message.get("handles", []):
                self._descriptions[int(number)] = dict(about)
            decoder = Decoder(self.shared, self)
            self.changed(decoder.open(message["objects"]))
            found = read(decoder)
            Encoder(self.shared, self).close()  # from here on, what differs has been changed on this side
            return found
        except (CannotCross, RemoteRefused, RemoteDied):
            raise
        except Exception as error:
            raise CannotCross(f"the message cannot be read: {type(error).__name__}: {str(error)[:200]}") from None
        finally:
            self.reading -= 1

    # asking

    def ask(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        """What the other side's operation returns. Raises what it raised there."""
        return self.exchange(
            lambda encoder: {
                "op": operation,
                "args": encoder.nodes(args),
                "kwargs": [[name, encoder.node(value)] for name, value in kwargs.items()],
            }
        )

    def exchange(self, build: Callable[[Encoder], dict[str, Any]]) -> Any:
        text = self.pack(lambda encoder: self.request(build(encoder), encoder))
        message = read_message(self._send(text))
        while "op" in message:
            message = read_message(self._send(self.serve(message)))
        return self.outcome(message)

    def outcome(self, message: Mapping[str, Any]) -> Any:
        def read(decoder: Decoder) -> Any:
            self.heard(message, decoder)
            return decoder.node(message.get("value")), decoder.node(message.get("error"))

        value, error = self.unpack(message, read)
        if "unable" in message:
            raise CannotCross(str(message["unable"])[:1000])
        if isinstance(error, BaseException):
            setattr(error, TRACE, str(message.get("trace", ""))[:20_000])
            raise error
        return value

    def request(self, message: dict[str, Any], encoder: Encoder) -> dict[str, Any]:
        """What goes with each question."""
        dead = [
            number
            for number in self._descriptions
            if not self.reading and number not in self._handles and number not in self._classes
        ]
        for number in dead:
            del self._descriptions[number]
        return message | {"dead": dead}

    def heard(self, message: Mapping[str, Any], decoder: Decoder) -> None:
        """What else a reply says."""

    def changed(self, objects: list[Any]) -> None:
        """What the other side has changed of the objects that both hold."""

    # serving

    def serve(self, message: Mapping[str, Any]) -> str:
        """Do what the other side asks; -> its reply. Raises only what must end all, such as RemoteRefused."""
        try:
            operation, args, kwargs = self.unpack(message, lambda decoder: self.question(message, decoder))
        except CannotCross as error:
            return self._failed(error)
        try:
            value = self.perform(operation, args, kwargs)
        except (RemoteRefused, RemoteDied):
            raise
        except BaseException as error:
            return self._failed(error)
        try:
            return self.pack(lambda encoder: self.reply({"value": encoder.node(value)}, encoder))
        except CannotCross as error:
            return self._failed(error)

    def _failed(self, error: BaseException) -> str:
        if isinstance(error, CannotCross):
            return self._unable(error)
        try:
            trace = self.trace(error)
            return self.pack(lambda encoder: self.reply({"error": encoder.node(error), "trace": trace}, encoder))
        except CannotCross as second:
            return self._unable(second)

    def _unable(self, error: CannotCross) -> str:
        """The reply where a question or its answer could not cross: no exception of the code that was called."""
        return self.pack(lambda encoder: self.reply({"unable": str(error)[:1000]}, encoder))

    def question(self, message: Mapping[str, Any], decoder: Decoder) -> tuple[str, list[Any], dict[str, Any]]:
        kwargs = {str(name): decoder.node(value) for name, value in message.get("kwargs", [])}
        args = decoder.nodes(message["args"])
        self.owned.forget(message.get("dead", []))
        self._told.intersection_update(self.owned.numbers())
        return message["op"], args, kwargs

    def perform(self, operation: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if operation not in OPERATIONS:
            raise CannotCross(f"expected an operation, but got {str(operation)[:40]!r}")
        return OPERATIONS[operation](*args, **kwargs)

    def reply(self, message: dict[str, Any], encoder: Encoder) -> dict[str, Any]:
        """What goes with each reply."""
        return message

    def trace(self, error: BaseException) -> str:
        return ""

    # Side

    def namespace(self) -> Mapping[str, Any]:
        return self._namespace

    def known_class(self, cls: type) -> bool:
        module, qualname = name_of(cls)
        own = module == MAIN and not classes.is_remote_class(cls)
        return own and find_class(module, qualname, self._namespace) is cls

    def home(self, value: Any) -> dict[str, Any] | None:
        link = classes.link_of(value)
        if link is None or link.connection is not self:
            return None
        if link.ended:
            raise RemoteDied(f"{classes.short(value)} was made before the student's kernel ended and was started anew")
        return {"back": link.number}

    def describe(self, value: Any, encoder: Encoder) -> Any:
        if isinstance(value, type) and (crosses_by_name(value) or self.known_class(value)):
            return ["type", list(name_of(value))]
        number = self.owned.number(value)
        if number not in self._told and number not in encoder.handles:
            encoder.handles[number] = {"k": "object", "class": ["type", ["builtins", "object"]]}
            about = about_class if isinstance(value, type) else about_function if is_function(value) else about_object
            encoder.handles[number] = about(value, encoder)
        return {"h": number}

    def subclass(self, value: Any, encoder: Encoder) -> dict[str, Any] | None:
        return {"h": self.owned.number(value), "class": encoder.node(type(value))}

    def own(self, number: Any) -> Any:
        return self.owned.object(number)

    def receive(self, number: Any, decoder: Decoder) -> Any:
        known = self._classes.get(number)
        if known is None:
            known = self._handles.get(number)
        if known is not None:
            return known
        if type(number) is not int or number not in self._descriptions:
            raise CannotCross("expected an object that was described before")
        about = self._descriptions[number]
        made = classes.make(Link(self, number, about), decoder)
        if isinstance(made, type):
            self._classes[number] = made
        else:
            self._handles[number] = made
        return made

    def receive_subclass(self, about: Mapping[str, Any], base: type, decoder: Decoder) -> tuple[type, Any] | None:
        cls = decoder.node(about["class"])
        if not isinstance(cls, type) or not issubclass(cls, base):
            return None
        return cls, Link(self, about["h"])


def read_message(text: Any) -> dict[str, Any]:
    """Raises RemoteDied where the other side did not answer with a message."""
    try:
        if not isinstance(text, str) or len(text) > 2 * MAX_MESSAGE:
            raise ValueError("it is too long")
        message = json.loads(text)
        if not isinstance(message, dict):
            raise ValueError("it is no object")
        return message
    except (ValueError, RecursionError) as error:
        raise RemoteDied(f"the student's kernel sent something that is no message: {str(error)[:200]}") from None


def _read_class(payload: Any, decoder: Any) -> type:
    """Classes cross by name: those of data, built-in exceptions, and those of the course's own cells."""
    cls = find_class(payload[0], payload[1], decoder.side.namespace())
    if cls is None or not (crosses_by_name(cls) or decoder.side.known_class(cls)):
        raise CannotCross(f"expected a class of data, but got {str(payload[1])[:80]}")
    return cls


register(InlineKind("type", lambda value, _: value, _read_class))
#: Every other kind of data that can cross: importing these modules makes them known.
KINDS = (plain, containers, objects, exceptions, arrays, tensors, frames)
__all__ = ["KINDS", "LINK", "Connection", "read_message"]

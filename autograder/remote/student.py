"""The student's side: does one thing that the tester asks for, and says what came of it.

It knows what is to be called, and with which arguments; never the test, nor what is expected.
"""

import secrets
import traceback
from collections.abc import Callable, MutableMapping
from typing import Any

from autograder.remote import random_state
from autograder.remote.connection import Connection, read_message
from autograder.remote.names import MAIN, find, name_of
from autograder.remote.printed import Printed
from autograder.remote.wire import Decoder, Encoder

_sessions: "dict[int, StudentSide]" = {}


def answer(namespace: MutableMapping[str, Any], request: str, call_back: Callable[[str], str] | None = None) -> str:
    """The reply to one request about ``namespace``, both JSON.

    call_back: sends a question of the student's code to the tester (a function of the test's is called, say), and
    returns what came back: the answer, or a further request.
    """
    session = _sessions.get(id(namespace))
    if session is None or session.namespace() is not namespace:
        session = _sessions[id(namespace)] = StudentSide(namespace)
    return session.answer(request, call_back)


class StudentSide(Connection):
    """All that was handed over from and to one namespace."""

    def __init__(self, namespace: MutableMapping[str, Any]) -> None:
        super().__init__(self._no_call_back, namespace, first=1)
        self._session = secrets.token_hex(8)
        self._watched: dict[str, Any] = {}
        self._known: set[str] = set()
        self._forgotten: list[int] = []
        self._printed = Printed()
        self._lists_classes = False

    def _no_call_back(self, text: str) -> str:
        raise TypeError("a function of the test cannot be called from here")

    def answer(self, request: str, call_back: Callable[[str], str] | None) -> str:
        message = read_message(request)
        if message.get("session") not in (None, self._session):
            return self.pack(lambda encoder: {"session": self._session, "stale": True})
        if message.get("session") is None:
            self.reset()
            self._watched = {}
        before, self._send = self._send, call_back or self._send
        try:
            return self.serve(message)
        finally:
            self._send = before

    def known_class(self, cls: type) -> bool:
        module, qualname = name_of(cls)
        return module == MAIN and qualname in self._known and super().known_class(cls)

    def question(self, message: Any, decoder: Decoder) -> tuple[str, list[Any], dict[str, Any]]:
        if "names" in message:
            self._watched = {name: self._watched.get(name) for name in message["names"]}
        random_state.write(message.get("random", {}))
        self._forgotten += message.get("forget", [])
        return super().question(message, decoder)

    def unpack(self, message: Any, read: Callable[[Decoder], Any]) -> Any:
        self._known = set(message.get("classes", self._known))
        return super().unpack(message, read)

    def perform(self, operation: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        self.shared.forget(self._forgotten)  # only now: what holds such an object is told anew with the reply
        self._forgotten = []
        if operation == "names":
            self._watched = dict.fromkeys(self._watched)
            self._lists_classes = True
            return None
        with self._printed:
            return super().perform(operation, args, kwargs)

    def reply(self, message: dict[str, Any], encoder: Encoder) -> dict[str, Any]:
        changed = {}
        for name, before in self._watched.items():
            node = [encoder.node(self._namespace[name])] if name in self._namespace else []
            if node != before:
                changed[name] = self._watched[name] = node
        if self._lists_classes:
            self._lists_classes = False
            message["classes"] = [name for name in self._known if isinstance(find(MAIN, name, self._namespace), type)]
        return message | {"session": self._session, "names": changed, "printed": self._printed.take()}

    def request(self, message: dict[str, Any], encoder: Encoder) -> dict[str, Any]:
        return super().request(message, encoder) | {"printed": self._printed.take()}

    def trace(self, error: BaseException) -> str:
        """The error as Python shows it, from the student's own lines on."""
        summary = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
        own = [frame for frame in summary.stack if "autograder/remote" not in frame.filename.replace("\\\\", "/")]
        summary.stack = traceback.StackSummary.from_list(own)
        return "".join(summary.format(chain=False))

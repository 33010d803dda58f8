"""The line from inside a kernel to the grader: texts go out as questions on Jupyter's stdin channel, answers come back.

They travel as binary data beside the messages, so that the grader need not read them. Code that calls ``input()`` gets
Jupyter's own refusal: only this module speaks on that channel.
"""

from __future__ import annotations

import threading
from typing import Any

_LOOK_UP = 1000  # milliseconds between chances to be interrupted, where waiting cannot be


class Line:
    """Open while one request of the grader runs. Safe to use from several threads, one text at a time."""

    def __init__(self, kernel: Any) -> None:
        """Waits for the greeting of the grader, which says that it listens and to which request."""
        self._session, self._socket = kernel.session, kernel.stdin_socket
        self._parent = kernel.get_parent("shell")
        self._lock = threading.Lock()
        while self._receive() != self._parent["header"]["msg_id"]:
            pass  # what an earlier request was still to be told

    def ask(self, text: str) -> str:
        """Say a text to the grader, and wait for the answer."""
        with self._lock:
            content, data = {"prompt": "", "password": False}, [text.encode("utf-8", "replace")]
            self._session.send(self._socket, "input_request", content, self._parent, self._ident, data)
            return self._receive()

    def _receive(self) -> str:
        while True:
            while not self._socket.poll(_LOOK_UP):
                pass
            self._ident, message = self._session.recv(self._socket)
            if message is not None and message["buffers"]:
                return bytes(message["buffers"][0]).decode("utf-8", "replace")

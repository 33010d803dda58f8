"""The line from inside a kernel to the grader: texts go out as questions, answers come back.

A forked kernel has a socket for it, which keeps packets apart; a long text takes several. Any other kernel uses
Jupyter's stdin channel, where the texts travel as binary data beside the messages. Code that calls ``input()`` gets
Jupyter's own refusal: only this module speaks there.
"""

import os
import threading
from typing import Any, Protocol

#: Where a forked kernel finds its socket.
DESCRIPTOR = 4
#: Bytes of a packet, besides the first one, which says whether more of the same text follow.
MAX_PACKET = 1 << 16
_MORE, _LAST = b"+", b"."
#: What a text of a tester without a kernel begins with: a question, an output as JSON, or how its cell ended.
QUESTION, OUTPUT, ENDED = b"q", b"o", b"e"
#: The state of a kernel that has shown all of its cell, and answers calls.
SERVING = "serving"
_LOOK_UP = 1000  # milliseconds between chances to be interrupted, where waiting cannot be


class Client(Protocol):
    """Open while one request of the grader runs. Safe to use from several threads, one text at a time."""

    def ask(self, text: str) -> str:
        """Say a text to the grader, and wait for the answer."""


class Socket:
    """This end of the socket of a forked kernel."""

    def __init__(self, descriptor: int = DESCRIPTOR) -> None:
        self._descriptor = descriptor

    def receive(self) -> bytes:
        """The next text. Raises EOFError where the grader is gone."""
        pieces = []
        while True:
            packet = os.read(self._descriptor, MAX_PACKET + 1)
            if not packet:
                raise EOFError("the grader is gone")
            pieces.append(packet[1:])
            if packet[:1] != _MORE:
                return b"".join(pieces)

    def send(self, data: bytes) -> None:
        for packet in packets(data):
            os.write(self._descriptor, packet)


def packets(data: bytes) -> list[bytes]:
    """A text as it goes over the socket."""
    pieces = [data[start : start + MAX_PACKET] for start in range(0, len(data), MAX_PACKET)] or [b""]
    return [*(_MORE + piece for piece in pieces[:-1]), _LAST + pieces[-1]]


def is_last(packet: bytes) -> bool:
    return packet[:1] != _MORE


class SocketClient:
    """A line over the socket. Each question begins with the name of the request in which it is asked."""

    def __init__(self, socket: Socket, request: str) -> None:
        """Waits for the greeting of the grader, which says that it listens and to which request."""
        self._socket, self._request = socket, request.encode()
        self._lock = threading.Lock()
        while socket.receive() != self._request:
            pass  # what an earlier request was still to be told

    def ask(self, text: str) -> str:
        with self._lock:
            self._socket.send(self._request + text.encode("utf-8", "replace"))
            return self._socket.receive().decode("utf-8", "replace")


class StdinClient:
    """A line over Jupyter's stdin channel."""

    def __init__(self, kernel: Any) -> None:
        """Waits for the greeting of the grader, which says that it listens and to which request."""
        self._session, self._socket = kernel.session, kernel.stdin_socket
        self._parent = kernel.get_parent("shell")
        self._lock = threading.Lock()
        while self._receive() != self._parent["header"]["msg_id"]:
            pass  # what an earlier request was still to be told

    def ask(self, text: str) -> str:
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


_forked = False


def use_socket() -> None:
    """From now on this process's lines go over its socket."""
    global _forked
    _forked = True


def open_line(kernel: Any) -> Client:
    """The line of the request that the kernel is at."""
    if _forked:
        return SocketClient(Socket(), kernel.get_parent("shell")["header"]["msg_id"])
    return StdinClient(kernel)

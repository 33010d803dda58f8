"""The grader's end of the line to a kernel: what code that runs there asks, and what it is answered.

Everything that comes in was made by the student's process, or by a tester that reads what the student's process said.
"""

import contextlib
import socket
import time
from dataclasses import dataclass
from select import POLLOUT, poll
from typing import Any, Protocol

import zmq

from autograder.kernel.channels import MAX_DATA, MAX_WAITING, KernelChannels
from autograder.tester.line import MAX_PACKET, is_last, packets

_SEND_SECONDS = 1.0  # a kernel that takes nothing must not hold up the grader
_AT_ONCE = 1000  # packets that are read between two looks at the clock


@dataclass(frozen=True)
class TesterQuestion:
    """What running code asked, unread; None where that was more than ``MAX_DATA``."""

    data: bytes | None


class Channel(Protocol):
    """``source``: what becomes readable when something has come."""

    source: Any

    def begin(self, request: str) -> None:
        """Say that somebody listens to what code asks in this request, and to nothing else."""

    def say(self, data: bytes) -> None: ...

    def drop(self) -> None:
        """Forget what has come in: whoever sent it was not asked yet."""

    def question(self) -> TesterQuestion | None:
        """What was asked in the request; None where that has not come yet."""


class Texts:
    """Texts over one end of a socket pair that keeps packets apart. A text that is too large is not kept."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self._pieces: list[bytes] = []
        self._size = 0
        self.closed = False  # by the other end

    def fileno(self) -> int:
        return self._end.fileno()

    def send(self, data: bytes) -> None:
        """Gives up where the other end takes nothing for a second, or is gone."""
        until = time.monotonic() + _SEND_SECONDS
        ready = poll()
        ready.register(self._end, POLLOUT)
        for packet in packets(data):
            while True:
                try:
                    self._end.send(packet)
                    break
                except BlockingIOError:
                    left = until - time.monotonic()
                    if left <= 0 or not ready.poll(left * 1000):
                        return
                except OSError:
                    return
            until = time.monotonic() + _SEND_SECONDS

    def receive(self) -> TesterQuestion | None:
        """The next whole text; None where it has not come yet."""
        with contextlib.suppress(OSError):
            for _ in range(_AT_ONCE):
                packet = self._end.recv(MAX_PACKET + 1)
                if not packet:
                    self.closed = True
                    return None
                self._size += len(packet)
                if self._size <= MAX_DATA:
                    self._pieces.append(packet[1:])
                else:
                    self._pieces.clear()
                if is_last(packet):
                    return self._whole()
        return None

    def _whole(self) -> TesterQuestion:
        asked = TesterQuestion(b"".join(self._pieces) if self._size <= MAX_DATA else None)
        self._pieces, self._size = [], 0
        return asked

    def drop(self) -> None:
        """Forget what has come in, and what has come in part."""
        with contextlib.suppress(OSError):
            for _ in range(_AT_ONCE):
                if not self._end.recv(MAX_PACKET + 1):
                    break
        self._pieces, self._size = [], 0

    def close(self) -> None:
        self._end.close()


class SocketLine:
    """To a forked kernel, by :class:`autograder.tester.line.SocketClient`."""

    def __init__(self, end: socket.socket) -> None:
        self._texts = Texts(end)
        self._request = b""
        self.source = self._texts.fileno()

    def begin(self, request: str) -> None:
        self._request = request.encode()
        self.drop()
        self.say(self._request)

    def say(self, data: bytes) -> None:
        self._texts.send(data)

    def drop(self) -> None:
        self._texts.drop()

    def question(self) -> TesterQuestion | None:
        for _ in range(MAX_WAITING):
            if (asked := self._texts.receive()) is None or asked.data is None:
                return asked
            if asked.data.startswith(self._request):
                return TesterQuestion(asked.data[len(self._request) :])
        return None

    def close(self) -> None:
        self._texts.close()


class StdinLine:
    """To any other kernel, over Jupyter's stdin channel."""

    def __init__(self, channels: KernelChannels) -> None:
        self._channels = channels
        self._request = ""
        self.source = channels.stdin

    def begin(self, request: str) -> None:
        self._request = request
        self.drop()
        self.say(request.encode())  # the kernel's socket sends only to those who have sent to it

    def say(self, data: bytes) -> None:
        self._channels.say(data)

    def drop(self) -> None:
        self._channels.drop_questions()

    def question(self) -> TesterQuestion | None:
        with contextlib.suppress(zmq.Again):
            for _ in range(MAX_WAITING):
                message = self._channels.receive(self._channels.stdin)
                if message is not None and message.parent == self._request and message.kind == "input_request":
                    return TesterQuestion(message.data)
        return None

    def close(self) -> None:
        """It ends with the kernel's channels."""

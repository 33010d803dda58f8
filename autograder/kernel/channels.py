"""The grader's sockets to one kernel. Everything that comes in was made by the student's process, and is judged so.

A message that is malformed, unsigned or not an answer to the request at hand is dropped; a large one is not read; one
that is larger still costs the connection. What is forged well can only pass for the forger's own output.

On the line, code that runs there asks, and is answered. What comes in was made by the student's process, or by a tester
that reads what the student's process said.
"""

import contextlib
import ctypes
import hmac
import json
import os
import secrets
import signal
import socket
import time
from dataclasses import dataclass
from functools import cached_property
from select import POLLOUT, poll
from typing import Any, Protocol

import zmq
from jupyter_client.manager import KernelManager
from jupyter_client.session import Session
from zmq.utils.monitor import recv_monitor_message

from autograder.errors import OutputFloodError
from autograder.isolation import Policy, usage
from autograder.kernel.fork_server import ForkServerClient
from autograder.kernel.launch import Launch
from autograder.kernel.scratch import Scratch
from autograder.tester.line import MAX_PACKET, is_last, packets

#: The last part of a unix socket's path.
_PORTS = {"shell": 1, "iopub": 2, "stdin": 3, "control": 4, "hb": 5}
_LINGER = 1000  # milliseconds


class ForkedKernel:
    """A confined kernel that is coming up. The names of its methods are those of ``KernelManager``."""

    def __init__(
        self, fork_server: ForkServerClient, scratch: Scratch, policy: Policy, context: zmq.Context[zmq.Socket[bytes]]
    ) -> None:
        """Raises InfrastructureError where there is no fork server, OSError where the disk is full."""
        key = secrets.token_hex(32)
        self._context, self._prefix = context, scratch.socket_prefix
        _write_connection_file(scratch, key)
        self.session = Session(key=key.encode())
        launch = Launch(str(scratch.work), scratch.variables(), str(scratch.connection_file))
        self.confined, self.line = fork_server.fork(launch, policy)

    def connect_shell(self, identity: bytes) -> zmq.Socket[bytes]:
        return self._connect("shell", zmq.DEALER, identity)

    def connect_stdin(self, identity: bytes) -> zmq.Socket[bytes]:
        return self._connect("stdin", zmq.DEALER, identity)

    def connect_iopub(self) -> zmq.Socket[bytes]:
        socket = self._connect("iopub", zmq.SUB)
        socket.setsockopt(zmq.SUBSCRIBE, b"")
        return socket

    def _connect(self, channel: str, kind: int, identity: bytes = b"") -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self._context.socket(kind)
        socket.linger = _LINGER
        if identity:
            socket.identity = identity
        socket.connect(f"ipc://{self._prefix}-{_PORTS[channel]}")
        return socket

    def interrupt_kernel(self) -> None:
        self.confined.send_signal(signal.SIGINT)

    def shutdown_kernel(self, now: bool = True) -> None:
        """Kill it, and return when all that it started is gone."""
        self.confined.kill()
        self.confined.wait()
        self.confined.close()
        self.line.close()


def _write_connection_file(scratch: Scratch, key: str) -> None:
    """As Jupyter writes it; no other user can read it. A second try in the same folder begins with a new one."""
    ports = {f"{channel}_port": port for channel, port in _PORTS.items()}
    connection = {"transport": "ipc", "ip": scratch.socket_prefix, "key": key, "signature_scheme": "hmac-sha256"}
    scratch.connection_file.unlink(missing_ok=True)
    descriptor = os.open(scratch.connection_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        json.dump({**ports, **connection}, file)


#: Of one socket's messages, the grader holds at most this many of at most this size.
MAX_WAITING = 32
MAX_MESSAGE = 32 << 20  # bytes
MAX_CONTENT = 4 << 20  # bytes that are read: JSON unfolds to many times its length
MAX_DATA = 24 << 20  # bytes that are passed on unread
_MAX_HEADER = 1 << 16
_SEND_MS = 1000  # a kernel that takes nothing must not hold up the grader
_RECONNECT_MS = 10
_CONTENT = 4  # its place in a message, after signature, header, parent's header and metadata
_IDENTITY = b"grader"  # the same after a lost connection, so that replies still find their way


def context() -> zmq.Context[zmq.Socket[bytes]]:
    """A context whose sockets take in little at a time."""
    made: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    for option, value in (
        (zmq.RCVHWM, MAX_WAITING), (zmq.MAXMSGSIZE, MAX_MESSAGE), (zmq.RECONNECT_IVL, _RECONNECT_MS),
        (zmq.SNDTIMEO, _SEND_MS),
    ):  # fmt: skip
        made.setsockopt(option, value)
    return made


@dataclass(frozen=True)
class Message:
    """A message of the right shape; nothing else about it is known."""

    kind: str
    parent: str  # the id of the request that it says it answers
    content: dict[str, Any]  # empty where it was too large
    oversized: bool = False
    data: bytes | None = None  # what came along unread; None where that was more than ``MAX_DATA``, or nothing


class KernelChannels:
    """Shell and iopub of one kernel, each with a watch on its connection, and stdin for code that asks questions."""

    def __init__(self, manager: ForkedKernel | KernelManager, guard: "GraderMemoryGuard") -> None:
        self._session: Any = manager.session
        self._manager, self._guard, self._memory_bound = manager, guard, guard.bound()
        self.shell = manager.connect_shell(identity=_IDENTITY)
        self.iopub = manager.connect_iopub()
        self.shell_lost = self.shell.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self.iopub_lost = self.iopub.get_monitor_socket(zmq.EVENT_DISCONNECTED)

    @cached_property
    def stdin(self) -> zmq.Socket[bytes]:
        return self._manager.connect_stdin(identity=_IDENTITY)

    def request(self, kind: str, content: dict[str, Any]) -> str:
        """Send a request on the shell channel; its id."""
        message = self._session.msg(kind, content=content)
        with contextlib.suppress(zmq.Again):
            self._session.send(self.shell, message)
        return str(message["header"]["msg_id"])

    def say(self, data: bytes) -> None:
        """Answer on the stdin channel: where Jupyter sends what somebody typed. ``data`` goes along as it is."""
        message = self._session.msg("input_reply", content={"status": "ok", "value": ""})
        with contextlib.suppress(zmq.Again):
            self._session.send(self.stdin, message, buffers=[data])

    def drop_questions(self) -> None:
        """Forget what has come in on the stdin channel: whoever sent it was not asked yet."""
        with contextlib.suppress(zmq.Again):
            for _ in range(MAX_WAITING):
                self.stdin.recv_multipart(zmq.NOBLOCK)

    def receive(self, socket: zmq.Socket[bytes]) -> Message | None:
        """The next message that waits on ``socket``, or None where it is of no use. Raises zmq.Again for none."""
        parts = socket.recv_multipart(zmq.NOBLOCK)
        try:
            _, parts = self._session.feed_identities(parts)
            if any(len(part) > _MAX_HEADER for part in parts[:_CONTENT]):
                return None
            oversized = len(parts[_CONTENT]) > MAX_CONTENT
            # As the session reads it, without what takes longest there: no date is needed.
            if not hmac.compare_digest(self._session.sign(parts[1 : _CONTENT + 1]), bytes(parts[0])):
                return None
            header, request = (self._session.unpack(part) for part in parts[1:3])
            kind, parent = header["msg_type"], request.get("msg_id")
            content = {} if oversized else self._session.unpack(parts[_CONTENT])
            more = parts[_CONTENT + 1 :]
            data = bytes(more[0]) if more and len(more[0]) <= MAX_DATA else None
        except Exception:  # a hostile message may fail in any way: too deep, no UTF-8, no signature, of no shape
            return None
        if isinstance(kind, str) and isinstance(content, dict):
            return Message(kind, parent if isinstance(parent, str) else "", content, oversized, data)
        return None

    def flooded(self) -> bool:
        """Whether the grader holds more than it should since this kernel was started. Raises OutputFloodError."""
        return self._guard.is_flood(self._memory_bound)

    def close(self) -> None:
        for one in (self.shell, self.iopub):
            with contextlib.suppress(zmq.ZMQError):
                one.disable_monitor()
        used = (self.stdin,) if "stdin" in vars(self) else ()
        for one in (self.shell_lost, self.iopub_lost, self.shell, self.iopub, *used):
            one.close(linger=0)


def lost(monitor: zmq.Socket[bytes]) -> bool:
    """Whether the watched connection has been lost since one looked last."""
    found = False
    with contextlib.suppress(zmq.Again):
        while True:
            recv_monitor_message(monitor, zmq.NOBLOCK)
            found = True
    return found


# How far kernels may make the grader's own process grow by what they send. What the messaging library holds of a
# message that never ends is counted nowhere, so the process is measured as a whole.

#: Bytes by which one kernel may make the grader grow in all its life. The parts of a message that never ends are held
#: without being counted among those that wait.
FLOOD = 256 << 20


class GraderMemoryGuard:
    """What the kernels of one :class:`autograder.kernel.kernels.Kernels` make this process grow.

    ``is_shared``: other kernels make it grow at the same time, so that nobody can tell whose a flood is.
    """

    def __init__(self) -> None:
        self.is_shared = False

    def bound(self) -> int:
        """Bytes that this process may hold while a kernel lives that starts now."""
        _give_back_memory()
        return usage.memory([os.getpid()]) + FLOOD

    def is_flood(self, bound: int) -> bool:
        """Whether this process holds more than that. Raises OutputFloodError where not only one kernel can be why.

        To go on would be unfair, and unsafe as well: kernels that flood by turns would each raise the other's bound.
        """
        if usage.memory([os.getpid()]) <= bound:
            return False
        if self.is_shared:
            raise OutputFloodError("the grader was flooded with messages while several notebooks ran")
        return True


def _give_back_memory() -> None:
    """Else the C library keeps what earlier messages took: a kernel might send that much more before it is noticed.

    They need not be gone when the kernel that sent them is: the messaging library closes its sockets later.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # another C library
        return


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

"""The grader's end of the socket to a supervisor: a confined process as seen from outside."""

from __future__ import annotations

import contextlib
import json
import select
import signal
import socket
import threading
import time

from autograder.isolation.supervisor import Ending

_MAX_PACKET = 1 << 16


class Confined:
    """A confined process. Closing, or losing, this object ends it and everything that it started.

    It may be signalled from any thread, also while another one closes this object.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._ending: Ending | None = None
        self._closing = threading.Lock()  # else a signal could go to whatever has got the descriptor's number since

    def fileno(self) -> int:
        """Becomes readable when the process has ended; to be waited on beside other things."""
        return self._channel.fileno()

    def send_signal(self, number: int) -> None:
        """Signal the confined process itself, not what it started. An ended process is passed over."""
        with self._closing, contextlib.suppress(OSError):
            self._channel.send(json.dumps({"signal": int(number)}).encode())

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> Ending | None:
        """How it ended; None while it runs."""
        return self.wait(0.0)

    def wait(self, seconds: float | None = None) -> Ending | None:
        """Wait until the process, and all that it left, is gone; None when the time is up first."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while self._ending is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
            poller = select.poll()
            poller.register(self._channel, select.POLLIN)
            if not poller.poll(left):
                return None
            self._ending = self._receive()
        return self._ending

    def _receive(self) -> Ending:
        """The supervisor's last word; where it was killed itself, its children were with it."""
        try:
            packet = self._channel.recv(_MAX_PACKET)
        except OSError:
            packet = b""
        if not packet:
            return Ending(int(signal.SIGKILL), fault="its supervisor was killed")
        return Ending(**json.loads(packet))

    def close(self) -> None:
        with self._closing:
            self._channel.close()


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """A connected pair that keeps messages apart: one end for the grader, one for the supervisor."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

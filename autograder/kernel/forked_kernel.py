"""A kernel that the grader forks for itself: what it needs of ``jupyter_client``'s manager, and no more."""

import json
import os
import secrets
import signal

import zmq
from jupyter_client.session import Session

from autograder.isolation import Policy
from autograder.kernel.fork_server import ForkServerClient
from autograder.kernel.launch import Launch
from autograder.kernel.scratch import Scratch

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

"""The grader's end of the template: started when first needed, started again when it died, ended with the grader."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from dataclasses import asdict
from functools import cache
from pathlib import Path

from autograder.isolation import Confined, Policy, channel_pair
from autograder.kernel.application import Launch
from autograder.kernel.errors import InfrastructureError

_PROJECT = Path(__file__).resolve().parents[2]
_START_SECONDS = 120.0
_PASSED_ON = ("HOME", "PATH", "LANG", "LC_ALL", "TMPDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH")


class ForkServer:
    """Starts confined kernels from one warm template process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self.missing: tuple[str, ...] = ()

    def start(self) -> None:
        """Have a warm template; takes seconds the first time. Raises InfrastructureError where it cannot be had."""
        with self._lock:
            self._ensure()

    def fork(self, launch: Launch, policy: Policy) -> Confined:
        """A new kernel process, confined to ``policy``, about to serve on the sockets of its connection file."""
        ours, theirs = channel_pair()
        request = json.dumps({"launch": asdict(launch), "policy": policy.to_json()}).encode()
        with self._lock, theirs:
            for _ in range(2):
                channel = self._ensure()
                try:
                    socket.send_fds(channel, [request], [theirs.fileno()])
                    return Confined(ours)
                except OSError as error:
                    self._end()
                    reason = error
        ours.close()
        raise InfrastructureError(f"the template process takes no requests: {reason}")

    def close(self) -> None:
        """End the template, and with it every kernel that it started."""
        with self._lock:
            self._end()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def _ensure(self) -> socket.socket:
        if self._channel is not None and self._process is not None and self._process.poll() is None:
            return self._channel
        self._end()
        ours, theirs = channel_pair()
        code = (
            f"import sys; sys.path.insert(0, {str(_PROJECT)!r}); "
            f"from autograder.kernel.template import main; main({theirs.fileno()})"
        )
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", code],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()], env=_variables(), start_new_session=True, cwd="/",
            )  # fmt: skip
        self._channel = ours
        self._await_ready(ours)
        return ours

    def _await_ready(self, channel: socket.socket) -> None:
        assert self._process is not None and self._process.stderr is not None
        ready, _, _ = select.select([channel], [], [], _START_SECONDS)
        packet = b""
        if ready:
            with contextlib.suppress(OSError):
                packet = channel.recv(1 << 16)
        if not packet:
            self._process.kill()
            said = self._process.stderr.read().decode(errors="replace").strip()
            self._end()
            raise InfrastructureError(f"the template process did not start: {said[-2000:] or 'it took too long'}")
        told = json.loads(packet)
        self.missing = tuple(told["missing"])
        self._process.stderr.close()
        if told["threads"] != 1:
            self._end()
            raise InfrastructureError(
                f"the template process has {told['threads']} threads, so that its children could hang: "
                "a library that it imports starts threads on import"
            )

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None


def _variables() -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **passed_on,
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"),
        "MALLOC_ARENA_MAX": "2",  # else every thread of a kernel reserves 64 MB of its bounded address space
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


@cache
def shared() -> ForkServer:
    """The fork server of this process."""
    server = ForkServer()
    atexit.register(server.close)
    return server

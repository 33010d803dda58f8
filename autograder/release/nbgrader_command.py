"""nbgrader's own commands, as anybody would type them, without waiting each time until nbgrader is imported."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import GradingError
from autograder.files.temporary import TemporaryFolder
from autograder.release.nbgrader_process import SAID, TASK


@dataclass(frozen=True)
class Done:
    """How a command ended. said: what it printed, on both streams."""

    returncode: int
    said: str


def nbgrader(arguments: Sequence[str], folder: Path, *, afresh: bool = False) -> Done:
    """``nbgrader ARGUMENTS``, typed in ``folder``.

    afresh: in a process that shares nothing with those of other calls, not even the order of sets.
    Raises GradingError where the process was ended from outside.
    """
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    if not afresh and sys.platform == "linux":  # elsewhere what nbgrader imports may not be forked
        return _of_this_process.run(arguments, folder, environment)
    command = [sys.executable, "-P", "-m", "nbgrader", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return Done(done.returncode, done.stdout)


class _WarmNbgrader:
    """The trusted side of :mod:`autograder.release.nbgrader_process`, which starts with the first command."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def run(self, arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> Done:
        task = {"arguments": list(arguments), "folder": str(folder), "environment": environment}
        with TemporaryFolder("nbgrader-") as place:
            Path(place, TASK).write_text(json.dumps(task), encoding="utf-8")
            code = self._ask(str(place))
            said = Path(place, SAID).read_text(encoding="utf-8", errors="replace") if code else ""
        if not code:
            raise GradingError(f"'nbgrader {' '.join(arguments)}' was ended from outside: is there too little memory?")
        return Done(int(code), said)

    def _ask(self, place: str) -> bytes:
        """The exit code of a command; nothing where its process was ended."""
        reading, writing = os.pipe()
        try:
            with self._lock:
                self._start()
                socket.send_fds(self._channel, [os.fsencode(place)], [writing])
        except OSError:
            os.close(reading)
            return b""
        finally:
            os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            return pipe.read()

    def _start(self) -> None:
        if self._process and self._process.poll() is None:
            return
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-m", "autograder.release.nbgrader_process", str(theirs.fileno())]
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        with theirs:
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment
            )
        atexit.register(self.close, self._process, self._channel)

    @staticmethod
    def close(process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        channel.close()
        process.wait()


_of_this_process = _WarmNbgrader()

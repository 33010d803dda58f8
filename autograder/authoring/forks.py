"""The trusted side of :mod:`autograder.authoring.server`: asking for forked processes, and hearing how they ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring.server import MAX_REQUEST
from autograder.errors import GradingError

ENDED = "the process that tries answers has ended: do the modules named under 'warm' in course.toml need more memory?"
#: Starting points that a working folder keeps. Answers come exercise by exercise; most to one exercise share theirs.
MAX_STARTING_POINTS = 4


@dataclass(frozen=True)
class Part:
    """Code to run as one cell. ``answers``: the folder that it hands its answers to; empty where it has none."""

    source: str
    answers: str = ""


class WarmServer:
    """A process that has imported ``modules``. Several threads may use it at once. A context manager.

    library: the folder in which the course's own library lies, where it is not installed.
    """

    def __init__(self, modules: Sequence[str], library: Path | None = None) -> None:
        ours, theirs = _pair()
        command = [sys.executable, "-P", "-m", "autograder.authoring.server", str(theirs.fileno())]
        environment = {**os.environ, "MPLBACKEND": "agg", "TOKENIZERS_PARALLELISM": "false"}
        if library is not None:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(library))))
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment)
        theirs.close()
        self._channel, self._lock = ours, threading.Lock()
        self._channel.send(json.dumps(list(modules)).encode())

    def __enter__(self) -> WarmServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._channel.close()
        self._process.wait()

    def fork(self) -> socket.socket:
        """A new process, to be told over this socket what it starts with."""
        ours, theirs = _pair()
        try:
            with theirs, self._lock:
                socket.send_fds(self._channel, [b"fork"], [theirs.fileno()])
        except OSError as error:
            raise GradingError(ENDED) from error
        return ours


class Workplace:
    """A working folder in which one answer after the other is tried, each as if it were the first. For one thread.

    It lies at ``folder``/work and is laid out as the folder ``files`` before each answer; beside it, ``inputs`` holds
    what code may read of the references.
    """

    def __init__(self, server: WarmServer, folder: Path, files: Path) -> None:
        self.folder, self.inputs = folder, folder / "inputs"
        self._server, self._work, self._files = server, folder / "work", files
        self._points: OrderedDict[tuple[Part, ...], _StartingPoint] = OrderedDict()
        self.inputs.mkdir(parents=True)

    def close(self) -> None:
        for point in self._points.values():
            point.channel.close()

    def run(
        self, parts: Sequence[Part], unchanged: int, files: Mapping[str, str], seconds: float
    ) -> list[dict[str, Any]]:
        """Run the parts in a process of their own; for each, how it ended. Empty where the process died.

        unchanged: so many of the first parts are the same for other answers, too, and need not run each time.
        files: name -> text, in place of what the working folder holds else.
        seconds: processor time of the parts that are changed, and time in all.
        """
        point = self._starting_point(tuple(parts[:unchanged]), seconds)
        if not point.shareable:
            return self.run(parts, 0, files, seconds)
        _lay_out(point.files, self._work)
        for name, text in files.items():
            (self._work / name).write_text(text, encoding="utf-8")
        return point.fork(self._task(parts[unchanged:], seconds), seconds)

    def _starting_point(self, parts: tuple[Part, ...], seconds: float) -> _StartingPoint:
        """A process that has run these parts: one from before, or a new one."""
        if parts in self._points:
            self._points.move_to_end(parts)
            return self._points[parts]
        if len(self._points) >= MAX_STARTING_POINTS:
            _, oldest = self._points.popitem(last=False)
            oldest.channel.close()
        _lay_out(self._files, self._work)
        point = _StartingPoint(self._server.fork(), self._files)
        point.begin(self._task(parts, seconds), seconds)
        if parts and point.shareable:
            point.files = self.folder / f"after-{point.pid}"
            _lay_out(self._work, point.files)
        self._points[parts] = point
        return point

    def _task(self, parts: Sequence[Part], seconds: float) -> bytes:
        task = {
            "folder": str(self._work),
            "inputs": str(self.inputs),
            "seconds": seconds,
            "parts": [vars(part) for part in parts],
        }
        path = self.folder / "task.json"
        path.write_text(json.dumps(task), encoding="utf-8")
        return str(path).encode()


class _StartingPoint:
    """A process that has run the parts which an answer does not change, and forks a child for each answer.

    files: what the working folder holds then. shareable: False where children would share more than memory of their
    own with it (an open file, say), and so with each other.
    """

    def __init__(self, channel: socket.socket, files: Path) -> None:
        self.channel, self.files = channel, files
        self.pid, self.shareable = 0, False

    def begin(self, task: bytes, seconds: float) -> None:
        """Raises GradingError where there is no process: the server has ended."""
        pid = self.channel.recv(MAX_REQUEST)
        if not pid:
            raise GradingError(ENDED)
        self.pid = int(pid)
        self.channel.send(task)
        if select.select([self.channel], [], [], seconds)[0]:
            self.shareable = self.channel.recv(MAX_REQUEST) == b"true"
        if not self.shareable:
            _end(self.pid)

    def fork(self, task: bytes, seconds: float) -> list[dict[str, Any]]:
        """How every part ended: those of this process, then those of the task. Empty where the child died."""
        reading, writing = os.pipe()
        try:
            socket.send_fds(self.channel, [task], [writing])
        finally:
            os.close(writing)
        try:
            lines = _lines(reading, 2, seconds)
        finally:
            os.close(reading)
        if lines:
            _end(int(lines[0]))  # what the child started may still run, or the child itself
        ended: list[dict[str, Any]] = json.loads(lines[1]) if len(lines) == 2 else []
        return ended


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _lay_out(files: Path, folder: Path) -> None:
    """Make ``folder`` hold a copy of ``files`` and nothing else."""
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(files, folder, symlinks=True)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _lines(descriptor: int, most: int, seconds: float) -> list[bytes]:
    """The first lines that come before the end, or before the time is up: whole ones, and never more than ``most``."""
    deadline, said = time.monotonic() + seconds, b""
    while said.count(b"\n") < most and (left := deadline - time.monotonic()) > 0:
        if select.select([descriptor], [], [], left)[0]:
            data = os.read(descriptor, 1 << 16)
            if not data:
                break
            said += data
    return said.split(b"\n")[:-1][:most]

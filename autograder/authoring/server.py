"""A warm process from which every trial of an answer is forked: ``python -m autograder.authoring.server FD``.

Two generations: the server forks a starting point, a process that runs the cells which an answer does not change; the
starting point forks a child for each answer. No child sees what another did.

For an author's own answers, on the author's own machine: nothing is confined here. Students' code is graded by
:mod:`autograder.kernel` alone.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import resource
import signal
import socket
import sys
import time
import traceback
from typing import Any

from autograder.model.limits import Limits
from autograder.tester.failure import line_that_raised

MAX_REQUEST = 1 << 16


def main(descriptor: int) -> None:
    """Import what the first message names, then fork for every socket that comes until the other side is gone."""
    channel = socket.socket(fileno=descriptor)
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # slow to import, and nobody attaches a debugger
    for name in ("bdb", "IPython.core.logger", "autograder.testing", *json.loads(channel.recv(MAX_REQUEST))):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    shell = _shell()
    sys.dont_write_bytecode = True  # two answers in one file may have the same size and time
    _prepare_to_fork()
    while True:
        request, descriptors, _, _ = socket.recv_fds(channel, MAX_REQUEST, 1)
        if not request:
            return
        if os.fork() == 0:
            channel.close()
            _starting_point(socket.socket(fileno=descriptors[0]), shell)
            os._exit(0)
        os.close(descriptors[0])


def _shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    # nobody reads the traceback of a trial; to lay one out takes longer than all the rest
    config = {"HistoryManager": {"enabled": False}, "InteractiveShell": {"xmode": "Minimal"}}
    return InteractiveShell.instance(config=Config(config))


def _prepare_to_fork() -> None:
    """Nobody waits for the children: each says itself what became of it. None looks for garbage in what it inherits."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()


def _starting_point(channel: socket.socket, shell: Any) -> None:
    """Run the parts of the first task, say whether children can go on from there, then fork one for each task.

    The first task: ``folder`` (the working folder), ``inputs`` (AUTOGRADER_INPUTS) and ``parts``; see :func:`execute`.
    """
    _lead()
    channel.send(json.dumps(os.getpid()).encode())
    task = _read(channel.recv(MAX_REQUEST))
    os.chdir(task["folder"])
    sys.path.insert(0, "")
    os.environ["AUTOGRADER_INPUTS"] = task["inputs"]
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    before = _shared_by_children()
    ended = execute(task, shell)
    after = _shared_by_children()
    channel.send(json.dumps(not task["parts"] or (before is not None and before == after)).encode())
    _prepare_to_fork()
    while True:
        request, descriptors, _, _ = socket.recv_fds(channel, MAX_REQUEST, 1)
        if not request:
            return
        if os.fork() == 0:
            channel.close()
            with os.fdopen(descriptors[0], "w") as pipe:
                _answer(_read(request), ended, shell, pipe)
            os._exit(0)
        os.close(descriptors[0])


def _lead() -> None:
    """Lead a group of processes of its own, which is ended as a whole."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _read(path: bytes) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        task: dict[str, Any] = json.load(file)
        return task


def _shared_by_children() -> tuple[Any, ...] | None:
    """What forked children would share instead of having a copy each: threads, open files, memory. None: not known."""
    try:
        files = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
        with open("/proc/self/maps", encoding="utf-8") as file:
            memory = [line.split()[0] for line in file if line.split()[1] == "rw-s"]
        return len(os.listdir("/proc/self/task")), sorted(files), memory
    except OSError:  # not on Linux
        return None


def _answer(task: dict[str, Any], before: list[dict[str, Any]], shell: Any, pipe: io.TextIOBase) -> None:
    """Say in two lines the process's number, and how every part ended: those of the starting point and the task's."""
    _lead()
    pipe.write(f"{os.getpid()}\n")
    pipe.flush()
    seconds = int(task["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    bound_memory()
    pipe.write(json.dumps(before + execute(task, shell)) + "\n")
    pipe.flush()


def bound_memory() -> None:
    """An answer may take what a submission may, beyond what it inherits. Not where the system does not say how much."""
    with contextlib.suppress(OSError):
        with open("/proc/self/statm", encoding="ascii") as file:
            inherited = int(file.read().split()[0]) * resource.getpagesize()
        most = inherited + Limits().memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def execute(task: dict[str, Any], shell: Any) -> list[dict[str, Any]]:
    """Run the parts of a task in its working folder; for each, how it ended.

    task: ``folder``, and ``parts``, a list of ``{source, answers}``; ``answers`` is the folder that the part hands its
    answers to, or "".
    """
    os.chdir(task["folder"])  # also where the process is there already: the folder may have been made anew
    importlib.invalidate_caches()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return [_part(shell, part["source"], part["answers"]) for part in task["parts"]]


def _part(shell: Any, source: str, answers: str) -> dict[str, Any]:
    os.environ.pop("AUTOGRADER_ANSWERS", None)
    if answers:
        os.environ["AUTOGRADER_ANSWERS"] = answers
    started, printed = time.monotonic(), io.StringIO()
    with contextlib.redirect_stdout(printed):
        done = shell.run_cell(source, store_history=True)
    error = done.error_before_exec or done.error_in_exec
    return {
        "status": "error" if error is not None else "ok",
        "ename": type(error).__name__ if error is not None else "",
        "evalue": str(error) if error is not None else "",
        "raised": line_that_raised("".join(traceback.format_exception(error))) if error is not None else ("", ""),
        "seconds": time.monotonic() - started,
        "ticked": any(line.startswith("✓ ") for line in printed.getvalue().splitlines()),
        "result": done.result if type(done.result) in (int, float) else None,
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))

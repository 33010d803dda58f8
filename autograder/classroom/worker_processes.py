"""Where local workers come from: a process of Python's own that has imported the grader, and nothing else.

This module imports nothing of the grader, so that the process can be started before all the rest is imported.
"""

from __future__ import annotations

import atexit
import importlib
import multiprocessing
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, util
from pathlib import Path

#: What the system calls a worker: its command line may be that of the command, of which it is a fork.
PROCESS_NAME = "grading-worker"
_PRELOADED = "autograder.classroom.importing", "autograder.classroom.warm_worker"


def processes(drawings: str = "") -> multiprocessing.context.BaseContext:
    """Forked from a process that has imported the grader and nothing else: a fork of this one would copy the writer's
    open gradebook. Windows has no such thing, and imports everything in each."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_PRELOADED, drawings] if drawings else [*_PRELOADED])
    with _nothing_from_here():
        forkserver.ensure_running()
    return context


@contextmanager
def _nothing_from_here() -> Iterator[None]:
    """What is started imports nothing from the working folder: one called ``autograder`` there would be taken."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


def say_name() -> None:
    """Have the system call this process a worker, where it can."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(PROCESS_NAME)


def start_importing(drawings: str) -> None:
    """Begin, in the background, with what the first worker would otherwise wait for: the course's drawings, too.

    A process that has done nothing else so far imports it itself, because it will need nearly all of it, and workers
    are forked from a fork of it as it is then.
    """
    if _has_just_begun():
        for module in _PRELOADED:
            importlib.import_module(module)
        if _has_one_thread():
            with _forking():
                processes(drawings)
    processes(drawings)


def _has_just_begun() -> bool:
    """Whether this process has imported neither the grader nor nbgrader yet, and can be forked."""
    return sys.platform == "linux" and not sys.modules.keys() & {
        _PRELOADED[-1],
        "autograder.classroom.workers",
        "nbgrader",
    }


def _has_one_thread() -> bool:
    return len(os.listdir("/proc/self/task")) == 1


@contextmanager
def _forking() -> Iterator[None]:
    """Python's fork server is a fork of this process."""
    spawn, util.spawnv_passfds = util.spawnv_passfds, _fork  # type: ignore[assignment]
    try:
        yield
    finally:
        util.spawnv_passfds = spawn


def _fork(_path: str, words: Sequence[str], descriptors: Iterable[int]) -> int:
    """Stands for ``multiprocessing.util.spawnv_passfds``: a fork of this process runs what a new Python would run."""
    if pid := os.fork():
        return pid
    try:
        atexit._clear()
        kept = {0, 1, 2, *descriptors}
        for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
            if descriptor not in kept:
                with suppress(OSError):
                    os.close(descriptor)
        sys.path[:] = [folder for folder in sys.path if folder not in ("", os.getcwd())]
        forkserver._forkserver.__init__()  # type: ignore[misc]  # this process holds its lock
        exec(words[-1], {})
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)

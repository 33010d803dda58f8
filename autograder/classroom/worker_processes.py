"""Where local workers come from: a process of Python's own that has imported the grader, and nothing else.

This module imports nothing of the grader, so that the process can be started before all the rest is imported.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver

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


def start_importing(drawings: str) -> None:
    """Begin, in the background, with what the first worker would otherwise wait for: the course's drawings, too."""
    processes(drawings)

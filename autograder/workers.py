"""Who does the grading: local processes, or the workers of a Dask scheduler, behind one small interface.

Local workers share one warm template of kernels; a Dask worker keeps its own. A worker that dies takes down only what
it was doing: that is done again by another.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import forkserver
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from autograder.assignment import Assignment, Course, read_submission
from autograder.errors import GradingError
from autograder.grading import ATTEMPTS, Graded, grade
from autograder.isolation import require
from autograder.run import Kernels, Limits

if TYPE_CHECKING:
    from distributed import Client
    from distributed import as_completed as AsCompleted

Isolation = Literal["auto", "none"]

#: How often a submission may be among those that Dask gave up with their workers; each time stands for several.
DASK_DEATHS = 5

_UNTIL_EXIT = ExitStack()


@dataclass(frozen=True)
class Job:
    """One submission to be graded. Small, so that a thousand of them weigh nothing."""

    root: Path
    assignment: str
    student: str
    limits: Limits
    isolation: Isolation
    template: str | None = None  # the address of one that is running


@dataclass(frozen=True)
class Done:
    """What became of a job: graded, or the reason why not."""

    job: Job
    graded: Graded | None
    failure: str = ""
    details: str = ""


@lru_cache(maxsize=1)
def _kernels(isolation: Isolation, template: str | None) -> Kernels:
    """They live as long as the worker does."""
    Finalize(None, _UNTIL_EXIT.close, exitpriority=0)  # a pool's process ends without what atexit knows
    return _UNTIL_EXIT.enter_context(Kernels.open(isolation, template=template))


@lru_cache(maxsize=4)
def _assignment(root: Path, name: str) -> Assignment:
    return Assignment.open(root, name)


def do(job: Job) -> Done:
    """Grade one submission, in whatever process this runs. Raises nothing on account of the submission."""
    assignment = _assignment(job.root, job.assignment)
    try:
        folder = Course(job.root).submitted(job.student, job.assignment)
        submission = read_submission(folder, job.student, assignment)
        return Done(job, grade(submission, assignment, _kernels(job.isolation, job.template), job.limits))
    except GradingError as error:
        return Done(job, None, str(error))
    except Exception as error:  # a fault of ours in one submission must not stop the class
        return Done(
            job, None, f"the grader failed ({type(error).__name__}: {error}); this is no mark", traceback.format_exc()
        )


def _end_with_parent() -> None:
    """A pool's worker does not notice that a killed parent is gone: see to it that it does."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _processes() -> multiprocessing.context.BaseContext:
    """Forked from a process that has imported the grader and nothing else: a fork of this one would copy the writer's
    open gradebook. Windows has no such thing, and imports everything in each."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "course.figures"])
    return context


def start_importing() -> None:
    """Begin, in the background, with what the first worker would otherwise wait for."""
    if _processes().get_start_method() == "forkserver":
        forkserver.ensure_running()


def local_results(jobs: list[Job], workers: int) -> Iterator[Done]:
    """Grade with processes of our own; a pool broken by a killed worker is replaced and its jobs are done again."""
    waiting, tries = list(jobs), dict.fromkeys((job.student for job in jobs), 0)
    while waiting:
        broken: list[Job] = []
        with ProcessPoolExecutor(min(workers, len(waiting)), _processes(), initializer=_end_with_parent) as pool:
            for job, outcome in _as_completed(pool, waiting, 2 * workers):
                if isinstance(outcome, BrokenProcessPool):
                    tries[job.student] += 1
                    broken.append(job)
                else:
                    yield outcome
        waiting = [job for job in broken if tries[job.student] < ATTEMPTS]
        yield from (
            Done(job, None, "the worker died while grading this submission")
            for job in broken
            if tries[job.student] >= ATTEMPTS
        )


def _as_completed(pool: Executor, jobs: list[Job], window: int) -> Iterator[tuple[Job, Done | BrokenProcessPool]]:
    """Results as they come, with only a few jobs handed out at a time: results never pile up."""
    queue = iter(jobs)
    running: dict[Future[Done], Job] = {}

    def hand_out() -> bool:
        for job in queue:
            try:
                running[pool.submit(do, job)] = job
            except BrokenProcessPool as error:
                failed.append((job, error))
                continue
            return True
        return False

    failed: list[tuple[Job, Done | BrokenProcessPool]] = []
    while len(running) < window and hand_out():
        pass
    while running or failed:
        yield from failed
        failed.clear()
        if not running:
            break
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            job = running.pop(future)
            error = future.exception()
            if error is not None and not isinstance(error, BrokenProcessPool):
                raise error
            yield job, error if isinstance(error, BrokenProcessPool) else future.result()
            hand_out()


@lru_cache(maxsize=1)
def _proven() -> None:
    require()


def do_elsewhere(job: Job) -> Done:
    """:func:`do` on a Dask worker, whose machine proves its isolation before the first submission."""
    if job.isolation == "auto":
        _proven()
    return do(job)


def dask_results(jobs: list[Job], address: str) -> Iterator[Done]:
    """Grade with the workers of a running Dask scheduler, which see the course under the same path.

    Raises GradingError where Dask is missing or no scheduler answers.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise GradingError("--scheduler needs Dask: pip install 'dask' 'distributed'") from error
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise GradingError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        yield from _from_dask(client, as_completed, jobs)


def _from_dask(client: Client, as_completed: type[AsCompleted], jobs: list[Job]) -> Iterator[Done]:
    """Results as they come. Dask gives up a task that several workers died under; whoever only waited there
    had nothing to do with it, so a submission is handed out again until DASK_DEATHS such verdicts have come."""
    from distributed import KilledWorker

    running = {(future := client.submit(do_elsewhere, job, pure=False)).key: (future, job) for job in jobs}
    deaths = dict.fromkeys((job.student for job in jobs), 0)
    finished = as_completed([future for future, _ in running.values()])
    for future in finished:
        _, job = running.pop(future.key)
        error = future.exception() if future.status == "error" else None
        if future.status == "finished":
            yield future.result()
        elif isinstance(error, KilledWorker | None) and deaths[job.student] < DASK_DEATHS:
            deaths[job.student] += 1
            again = client.submit(do_elsewhere, job, pure=False)
            running[again.key] = again, job
            finished.add(again)
        else:
            yield Done(job, None, f"no worker could do it: {error or future.status}")

"""Cheap stand-ins for the grading of one submission, and Dask workers that are there again at once when they have died.

A module of its own: workers import it by name, those of Dask are forked from a process that has imported both.
"""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from autograder.classroom.workers import Job, JobResult, do
from autograder.model.course import Course
from autograder.model.verdict import Graded, SubmissionVerdict
from autograder.pipeline.execute import Limits


def jobs(students: list[str], root: Path = Path("nowhere")) -> list[Job]:
    course = Course(root)
    return [Job(course, "toy", student, Limits(), "none") for student in students]


def quick_or_deadly(job: Job) -> JobResult:
    """A submission called killer... kills its worker, always; one called victim... only while others run beside it."""
    if job.student.startswith("killer"):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.001)
    return JobResult(job, Graded(SubmissionVerdict(job.student, job.assignment), {}, ()))


def hungry(job: Job) -> JobResult:
    """As when memory is short: whoever finds another one at work is killed. ``job.course.root`` is where they meet."""
    mine = job.course.root / f"{job.student}.at-work"
    mine.touch()
    time.sleep(0.05)
    crowded = len(list(job.course.root.glob("*.at-work"))) > 1
    mine.unlink()
    if crowded and job.student.startswith("victim"):
        os.kill(os.getpid(), signal.SIGKILL)
    return JobResult(job, Graded(SubmissionVerdict(job.student, job.assignment), {}, ()))


def leave_a_mark(job: Job) -> JobResult:
    (job.course.root / job.student).touch()
    return quick_or_deadly(job)


def real_or_deadly(job: Job) -> JobResult:
    if job.student.startswith("killer"):
        os.kill(os.getpid(), signal.SIGKILL)
    return do(job)


def other_version(job: Job) -> JobResult:
    """What a worker sends back that has imported another grader."""
    return JobResult(job, None, version="another")


def serve(address: str) -> None:
    """One worker with one thread, until it is killed."""
    from distributed import Worker

    async def until_closed() -> None:
        worker = await Worker(address, nthreads=1, dashboard=False, heartbeat_interval="1s")
        await worker.finished()

    asyncio.run(until_closed())


@contextlib.contextmanager
def crew(number: int) -> Iterator[str]:
    """The address of a scheduler with ``number`` workers, whose dead are replaced."""
    from distributed import LocalCluster

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["distributed", __name__])
    over = threading.Event()
    with LocalCluster(n_workers=0, dashboard_address=None, processes=False, protocol="tcp://") as cluster:
        keeper = threading.Thread(target=_keep, args=(context, cluster.scheduler_address, number, over), daemon=True)
        keeper.start()
        try:
            yield cluster.scheduler_address
        finally:
            over.set()
            keeper.join()


def _keep(context: BaseContext, address: str, number: int, over: threading.Event) -> None:
    workers: list[BaseProcess] = []
    while not over.wait(0.02):
        workers = [worker for worker in workers if worker.is_alive()]
        while len(workers) < number:
            workers.append(context.Process(target=serve, args=(address,), daemon=True))  # type: ignore[attr-defined]
            workers[-1].start()
    for worker in workers:
        worker.kill()
        worker.join()

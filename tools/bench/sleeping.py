"""How well the Dask workers are kept busy: submissions that sleep in place of computing, on simulated workers."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.classroom.dask import dask_results
from autograder.classroom.workers import Job, JobResult
from autograder.model.course import Course
from autograder.pipeline.execute import Limits

SECONDS = 1.0  # that one submission sleeps
EACH = 20  # submissions for each worker


def sleep(job: Job) -> JobResult:
    """A submission that takes a second and no processor."""
    time.sleep(SECONDS)
    return JobResult(job, None, "slept", version=job.version)


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """The address of a scheduler with that many workers, each a process with one thread."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def efficiency(workers: int, root: Path) -> float:
    """The share of the workers' time in which they had a submission: 1.0 is a scheduler that costs nothing."""
    course = Course(root)
    jobs = [Job(course, "sleeping", f"student{number:04d}", Limits(), "none") for number in range(EACH * workers)]
    with _cluster(workers) as address:
        list(dask_results(jobs[:workers], address, sleep))  # each worker imports the grader once, as it does in a term
        started = time.perf_counter()
        done = list(dask_results(jobs, address, sleep))
        seconds = time.perf_counter() - started
    if sorted(one.job.student for one in done) != sorted(job.student for job in jobs):
        raise SystemExit(f"{len(jobs)} submissions were handed out, {len(done)} came back")
    return EACH * SECONDS / seconds

"""One submission in whatever process grades it, and the local processes that do so.

Local workers share one warm fork server; a Dask worker (``dask_workers``) keeps its own. A worker that dies
takes down only what it was doing, and that is done again, alone, by another.
"""

import multiprocessing
import os
import platform
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from multiprocessing import forkserver, resource_tracker
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Literal

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom.autograded import read_verdict
from autograder.classroom.journal import Journal
from autograder.errors import GradingError
from autograder.files.atomic import undisturbed
from autograder.gradebook.groups import with_mates
from autograder.kernel.imports import KernelImports, imports_of
from autograder.kernel.kernels import Kernels
from autograder.kernel.scratch import kernels_within_quota
from autograder.model.course import Course
from autograder.model.limits import Limits
from autograder.model.verdict import Graded
from autograder.pipeline import stored_runs
from autograder.pipeline.drawings import drawing
from autograder.pipeline.fingerprint import Parts, content_parts, digest, submission_parts
from autograder.pipeline.grade import grade_submission, judge_again
from autograder.pipeline.running import ATTEMPTS, Runs
from autograder.release.as_submitted import solved

Isolation = Literal["auto", "none"]

#: What is said of a submission that none of its workers survived.
KILLED = "the worker died while grading this submission"

#: What the system calls a worker.
PROCESS_NAME = "grading-worker"

#: What every worker would else import when it comes to need it.
_IMPORTED_LATE = ("autograder.pipeline.markdown_parser",)
_AT_HAND = 2  # jobs given to one worker: the one it does, and the next
_UNTIL_EXIT = ExitStack()


@dataclass(frozen=True)
class Job:
    """One submission to be graded. Small, so that a thousand of them weigh nothing."""

    course: Course
    assignment: str
    student: str
    limits: Limits
    isolation: Isolation
    fork_server: str | None = None  # the address of one that is running
    content: str = ""  # digests of what assignment and grader must be where it is graded; empty: anything
    version: str = ""
    notebooks_at_once: int = 1
    machine: str = ""  # digest of what runs notebooks
    basis: str = ""  # digest of what course and student bring to a run
    alone: bool = False  # again, since a test that measures time did not hold
    rewrite: bool = True  # whether the notebooks of a verdict that has not changed are written, too


@dataclass(frozen=True)
class JobResult:
    """What became of a job: graded, or the reason why not. ``submission``: what was read of it, as parts.

    ``version`` is the worker's own; where it differs from the job's, nothing was graded. ``same``: it was judged again,
    to the verdict of before, and nothing has to be written.
    """

    job: Job
    graded: Graded | None
    failure: str = ""
    details: str = ""
    submission: Parts = field(default_factory=dict)
    version: str = ""
    same: bool = False


Work = Callable[[Job], JobResult]


@lru_cache(maxsize=1)
def _kernels(isolation: Isolation, fork_server: str | None, imports: KernelImports, number: int) -> list[Kernels]:
    """They live as long as the worker does. ``number``: more than one only where a fork server is running."""
    Finalize(None, _UNTIL_EXIT.close, exitpriority=0)  # a pool's process ends without what atexit knows
    opened = (Kernels.open(isolation, fork_server=fork_server, imports=imports) for _ in range(number))
    return [_UNTIL_EXIT.enter_context(one) for one in opened]


@lru_cache(maxsize=4)
def _assignment(course: Course, name: str, content: str) -> Assignment:
    """As it is on disk now; a Dask worker lives for weeks, so what is kept is kept by its digest.

    Raises GradingError where this is not what the grader sees.
    """
    assignment = with_mates(course, Assignment.open(course, name))
    if content and digest(content_parts(assignment)) != content:
        raise GradingError(
            f"{name} is not the same on {platform.node()} as where 'autograder grade' runs: was it changed during the "
            "run, or does that machine see another folder?"
        )
    return assignment


def do(job: Job) -> JobResult:
    """Grade one submission, in whatever process this runs. Raises nothing on account of the submission."""
    try:
        assignment = _assignment(job.course, job.assignment, job.content)
        folder = job.course.submitted(job.student, job.assignment)
        submission = read_submission(folder, job.student, assignment)
        kernels, *beside = _kernels(job.isolation, job.fork_server, imports_of(job.course), job.notebooks_at_once)
        path = stored_runs.path_of(job.course.root, job.assignment, job.student)
        stored, problem = stored_runs.read(path)
        runs = Runs(job.machine, stored.runs if stored is not None else {})
        if job.alone:
            runs = Runs(job.machine, too_slow=_too_slow(assignment, kernels, job.limits))
        graded = grade_submission(submission, assignment, kernels, job.limits, beside=beside, runs=runs)
        problems = (problem, stored_runs.write(path, replace(runs.now, basis=job.basis)) if runs.now else "")
        graded = replace(graded, log=(*graded.log, *filter(None, problems)))
        return JobResult(job, graded, submission=submission_parts(submission))
    except GradingError as error:
        return JobResult(job, None, str(error))
    except Exception as error:  # a fault of ours in one submission must not stop the class
        return JobResult(job, None, *_blame(error))


def _too_slow(assignment: Assignment, kernels: Kernels, limits: Limits) -> set[tuple[str, str]]:
    """(notebook, grade id) of the cells that the solution does not pass now."""
    books = grade_submission(solved(assignment), assignment, kernels, limits).verdict.notebooks
    return {(book.notebook, one.cell) for book in books for one in book.cells if one.points != one.max_points}


def _look_ahead(job: Job) -> None:
    """Have at hand what every submission needs: the assignment, and the course's own drawings."""
    with suppress(Exception):  # the first job says what is wrong
        assignment = _assignment(job.course, job.assignment, job.content)
        for notebook in assignment.source.values():
            for cell in notebook.cells:
                drawing(cell.source, assignment.drawings)


def judge(job: Job) -> JobResult:
    """Judge one submission by what its run produced, where nothing that a run depends on has changed since.

    Else nothing is graded, and there is no failure: it has to be run. Raises nothing on account of the submission.
    """
    try:
        stored, _ = stored_runs.read(stored_runs.path_of(job.course.root, job.assignment, job.student))
        if stored is None or stored.basis != job.basis:
            return JobResult(job, None)
        assignment = _assignment(job.course, job.assignment, job.content)
        before = None if job.rewrite else read_verdict(job.course, job.assignment, job.student)
        graded = judge_again(stored, assignment, before)
        return JobResult(job, graded, same=graded.verdict == before)
    except Exception:  # what was kept is not what it should be: a run makes it again, or says what is wrong
        return JobResult(job, None)


def _begin() -> None:
    with suppress(OSError):
        Path("/proc/self/comm").write_text(PROCESS_NAME)
    end_with_parent()


def end_with_parent() -> None:
    """A pool's worker does not notice that a killed parent is gone: see to it that it does."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def worker_processes(drawings: str = "") -> multiprocessing.context.BaseContext:
    """Where local workers come from: a process that imports the grader, and the course's drawings, and nothing else.

    It starts with the first call. A fork of this process would copy the writer's open gradebook. Windows has no such
    thing, and imports everything in each.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *_IMPORTED_LATE, *([drawings] if drawings else [])])
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"  # a folder called autograder in the working folder is not the grader
    resource_tracker.ensure_running()  # with signals as they are: it sets some free
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl-C is for this process to see to
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before
    return context


class _Worker:
    """A process, and the jobs it was given, in order: it does the first of them, the others wait in its queue.

    Each process is a pool of its own, so that its death tells which job it was doing and breaks no other's.
    """

    def __init__(self, work: Work, soon: Job | None = None) -> None:
        """soon: a job like those that it will be given."""
        self._pool = ProcessPoolExecutor(1, worker_processes(), initializer=_begin)
        self._work = work
        if soon is not None:
            self._pool.submit(_look_ahead, soon)
        self.given: dict[Future[JobResult], Job] = {}

    def give(self, job: Job) -> bool:
        """False where the process is dead."""
        try:
            with undisturbed():
                self.given[self._pool.submit(self._work, job)] = job
        except BrokenProcessPool:
            return False
        return True

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def local_results(
    jobs: list[Job], workers: int, work: Work = do, ready: Callable[[], object] | None = None
) -> Iterator[JobResult]:
    """Grade with processes of our own.

    ready: returns when jobs can be done; the workers come up meanwhile.

    When a worker dies, the submission it was grading is a suspect; what only waited in its queue goes to another
    worker. Suspects are graded again at the end, one at a time with nothing beside them: a submission that kills its
    worker harms no other, and one whose worker was killed for the memory that others took has the machine to itself. So
    has one of which a test that measures time did not hold.
    """
    suspects: list[Job] = []
    for done in _side_by_side(deque(jobs), workers, work, suspects, ready):
        if done.graded is not None and done.graded.hurried:
            suspects.append(replace(done.job, alone=True))
        else:
            yield done
    yield from (_alone(replace(job, notebooks_at_once=1), work) for job in suspects)


def _side_by_side(
    queue: deque[Job], workers: int, work: Work, suspects: list[Job], ready: Callable[[], object] | None
) -> Iterator[JobResult]:
    """Results as they come; what a worker died under is left in ``suspects``."""
    staff: list[_Worker] = []
    try:
        if ready is not None:
            for job in list(queue)[:workers]:
                with undisturbed():
                    staff.append(_Worker(work, soon=job))
            ready()
        while True:
            _hand_out(queue, staff, workers, work)
            running = [future for worker in staff for future in worker.given]
            if not running:
                return
            wait(running, return_when=FIRST_COMPLETED)
            for worker in list(staff):
                for future, job in list(worker.given.items()):
                    if not future.done():
                        break  # in order: nothing behind it has begun
                    del worker.given[future]
                    if isinstance(future.exception(), BrokenProcessPool):
                        suspects.append(job)
                        queue.extendleft(reversed(worker.given.values()))
                        staff.remove(worker)
                        worker.close()
                        break
                    yield _outcome(job, future)
    finally:
        for worker in staff:
            worker.close()


def _hand_out(queue: deque[Job], staff: list[_Worker], workers: int, work: Work) -> None:
    """Give every worker a few jobs, so that results never pile up; one that has died with nothing to do is replaced."""
    while queue and (len(staff) < workers or min(len(worker.given) for worker in staff) < _AT_HAND):
        least = min(staff, key=lambda worker: len(worker.given), default=None)
        if least is None or (least.given and len(staff) < workers):
            staff.append(least := _Worker(work))
        if least.give(queue[0]):
            queue.popleft()
        elif least.given:
            return  # its jobs are about to come back
        else:
            staff.remove(least)
            least.close()


def _outcome(job: Job, future: Future[JobResult]) -> JobResult:
    error = future.exception()
    return future.result() if error is None else JobResult(job, None, *_blame(error))


def _blame(error: BaseException) -> tuple[str, str]:
    """(one line, details) about a fault of ours in one submission."""
    said = f"the grader failed ({type(error).__name__}: {error}); this is no mark"
    return said, "".join(traceback.format_exception(error))


def _alone(job: Job, work: Work) -> JobResult:
    """A submission under which a worker died: the last tries it has."""
    for _ in range(ATTEMPTS - 1):
        worker = _Worker(work)
        try:
            worker.give(job)
            (future,) = worker.given
            if not isinstance(future.exception(), BrokenProcessPool):
                return _outcome(job, future)
        finally:
            worker.close()
    return JobResult(job, None, KILLED)


@dataclass(frozen=True)
class GradingOptions:
    """What the instructor asked for."""

    assignment: str
    students: tuple[str, ...] = ()
    workers: int = 1
    force: bool = False
    scheduler: str | None = None
    isolation: Isolation = "auto"
    limits: Limits = field(default_factory=Limits)
    require_outside: bool = False


def jobs_like(like: Job, students: Iterable[str], journal: Journal) -> list[Job]:
    """The same job for each of these students.

    What took long or was cut off goes first, so that the end of a run does not wait for one of them.
    """

    def urgency(student: str) -> tuple[int, float]:
        entry = journal.last(student)
        if entry is None:
            return 1, 0.0
        return (0 if entry.cut else 2), -entry.seconds

    return [replace(like, student=student) for student in sorted(students, key=urgency)]


_GROUPS = Path("/sys/fs/cgroup")


def notebooks_at_once(notebooks: int, limits: Limits, submissions: int = 1, workers: int = sys.maxsize) -> int:
    """For each of ``submissions`` that are graded at the same time, where ``workers`` notebooks may be at work in all.

    Each has a core to itself, memory and disk up to its limits: else one could be cut off that alone comes to its end,
    and one submission could do what otherwise takes several, which is to fill the disk for all.
    """
    room = min(workers, cores(), free_memory() // limits.memory_bytes, kernels_within_quota(limits.disk_bytes))
    return max(1, min(notebooks, room // max(1, submissions)))


def cores() -> int:
    """The processors that this process may use at once, in a container too."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([mine, *_quotas()]))


def free_memory() -> int:
    """Bytes that more processes may take here; very many where nobody can tell."""
    return min([*_available(), *_memory_limits()], default=sys.maxsize)


def _quotas() -> Iterator[int]:
    """Whole processors that the groups of this process have: processor time, and in which time, in microseconds."""
    for group in _groups():
        yield from _shares(_words(group / "cpu.max"))
    version_1 = _GROUPS / "cpu"
    yield from _shares([*_words(version_1 / "cpu.cfs_quota_us"), *_words(version_1 / "cpu.cfs_period_us")])


def _shares(words: list[str]) -> Iterator[int]:
    with suppress(ValueError, ZeroDivisionError):  # no limit, or nothing there
        quota, period = map(int, words)
        if quota > 0:
            yield quota // period


def _available() -> Iterator[int]:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10


def _memory_limits() -> Iterator[int]:
    for path in (*(group / "memory.max" for group in _groups()), _GROUPS / "memory" / "memory.limit_in_bytes"):
        yield from (int(word) for word in _words(path) if word.isdigit())


def _groups() -> Iterator[Path]:
    """The control group that this process is in, and those around it."""
    for line in _lines(Path("/proc/self/cgroup")):
        if line.startswith("0::"):
            own = _GROUPS / line[3:].strip("/")
            yield from (own, *(parent for parent in own.parents if parent.is_relative_to(_GROUPS)))


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text().splitlines()
    return []

"""Notebooks that are run side by side: the same verdicts, notebooks and order as one after the other."""

import json
import logging
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.classroom import run as classroom
from autograder.classroom import workers as at_once
from autograder.classroom.run import GradingOptions, grade_class
from autograder.classroom.workers import Job, JobResult
from autograder.errors import InfrastructureError
from autograder.isolation import usage
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.kernels import Kernels
from autograder.model.course import Course
from autograder.model.limits import Limits
from autograder.model.verdict import Graded, to_json
from autograder.pipeline import running
from autograder.pipeline.grade import grade_submission
from tests.attacks.machine import ENDLESS
from tests.once import made_once
from tests.pipeline.chain import BASE, LAST, NOTEBOOKS, PLAIN, TWICE, chain, submitted
from tests.pipeline.conftest import SMALL, course_of_exercises
from tools.bench.courses import without_warm_modules

pytestmark = pytest.mark.slow

WRONG_BASE = "import time\ntime.sleep(1.5)  # the later notebooks are done before it\ndef base(x): return x"
FOLLOWING = "print('seen')\ndef twice(x): return 2 * x"
HANGING = "import time\ntime.sleep(60)\n"
LIMITS = Limits(cell_seconds=20)


@pytest.fixture(scope="module")
def fork_server() -> Iterator[KernelForkServer]:
    server = KernelForkServer()
    server.ready()
    yield server
    server.close()


@pytest.fixture(scope="module")
def crew(fork_server) -> Iterator[list[Kernels]]:
    """Kernels for three notebooks at once."""
    with ExitStack() as opened:
        yield [opened.enter_context(Kernels.open(fork_server=fork_server.address)) for _ in range(3)]


@pytest.fixture(scope="module")
def assignment(tmp_path_factory) -> Assignment:
    return chain(tmp_path_factory.mktemp("chain") / "course")


@dataclass
class Run:
    """What came of a submission, without its times; ``executed``: which notebooks were told to have run, in order."""

    graded: Graded
    executed: list[str] = field(default_factory=list)

    @property
    def result(self) -> dict[str, Any]:
        verdict = self.graded.verdict
        timeless = replace(verdict, notebooks=tuple(
            replace(one, seconds=0.0, cells=tuple(replace(cell, seconds=0.0) for cell in one.cells))
            for one in verdict.notebooks
        ))  # fmt: skip
        return {
            "verdict": to_json(timeless),
            "notebooks": {name: nbformat.writes(notebook) for name, notebook in self.graded.notebooks.items()},
            "log": self.graded.log,
            "cut": self.graded.cut,
            "answers": self.graded.answers,
            "executed": self.executed,
        }

    @property
    def points(self) -> dict[str, float | None]:
        return {cell.cell: cell.points for one in self.graded.verdict.notebooks for cell in one.cells}


def run(submission: Submission, assignment: Assignment, kernels: Sequence[Kernels], limits: Limits = LIMITS) -> Run:
    executed: list[str] = []
    first, *beside = kernels
    on_executed = lambda name, ran: executed.append(name)  # noqa: E731
    return Run(grade_submission(submission, assignment, first, limits, on_executed, beside), executed)


@pytest.mark.parametrize(
    ("answers", "without", "points"),
    [
        ({}, (), {"base": 3, "twice": 2, "plain": 1, "last": 1}),
        ({BASE: WRONG_BASE, TWICE: FOLLOWING}, (), {"base": 0, "twice": 2, "plain": 1, "last": 1}),
        ({TWICE: FOLLOWING}, (BASE,), {"base": 0, "twice": 0, "plain": 1, "last": 1}),
        ({BASE: WRONG_BASE, PLAIN: "import os\nos._exit(1)"}, (TWICE,), {"base": 0, "twice": 0, "plain": 0, "last": 1}),
    ],
    ids=["right", "charged once", "missing", "crashed"],
)
def test_all_is_the_same_side_by_side_as_one_after_the_other(crew, assignment, answers, without, points):
    submission = submitted(assignment, answers, without)
    alone, together = run(submission, assignment, crew[:1]), run(submission, assignment, crew)
    assert together.result == alone.result
    assert together.points == points
    assert together.executed == [name for name in NOTEBOOKS if name not in without]


def test_the_log_has_the_order_of_the_notebooks(crew, assignment):
    dying = "import os\nos._exit(1)"
    late = f"import time\ntime.sleep(1.5)\n{dying}"
    done = run(submitted(assignment, {BASE: late, TWICE: dying, LAST: dying}), assignment, crew)
    named = [line.partition(":")[0] for line in done.graded.log]
    assert len(named) >= 3 and named == sorted(named) and set(named) == {BASE, TWICE, LAST}


def test_a_notebook_that_hangs_costs_its_own_time_alone(crew, assignment):
    submission = submitted(assignment, dict.fromkeys((BASE, TWICE, PLAIN), f"{HANGING}raise ValueError"))
    started = time.monotonic()
    done = run(submission, assignment, crew, Limits(cell_seconds=4))
    assert time.monotonic() - started < 12  # the three times of four seconds, one after the other
    assert done.points == {"base": 0, "twice": 0, "plain": 0, "last": 1}
    for one in done.graded.verdict.notebooks:
        assert one.notebook == LAST or one.seconds >= 4


def failing(names: Sequence[str], error: Exception) -> Callable[..., Any]:
    """The stage RUN, but it raises ``error`` for some notebooks."""
    real = running.run

    def run(notebook: nbformat.NotebookNode, **given: Any) -> Any:
        if any(one.metadata.get("nbgrader", {}).get("grade_id") in names for one in notebook.cells):
            raise error
        return real(notebook, **given)

    return run


def test_a_failure_of_the_grader_in_one_notebook_harms_no_other(crew, assignment, monkeypatch):
    monkeypatch.setattr(running, "run", failing(["twice"], InfrastructureError("no kernel could be started")))
    submission = submitted(assignment)
    alone, together = run(submission, assignment, crew[:1]), run(submission, assignment, crew)
    assert together.result == alone.result
    assert together.points == {"base": 3, "twice": None, "plain": 1, "last": 1}
    assert [line for line in together.graded.log if "attempt 3 of 3" in line]


def nothing_left(fork_server: KernelForkServer) -> bool:
    end = time.monotonic() + 5
    while (left := usage.descendants(fork_server.pid or 0)) and time.monotonic() < end:
        time.sleep(0.01)
    return not left


def assert_they_end_and_the_kernels_can_be_used_again(crew, assignment, fork_server, kind, go) -> None:
    """``go`` raises while another notebook still has a minute to sleep."""
    threads, started = threading.active_count(), time.monotonic()
    with pytest.raises(kind):
        go(submitted(assignment, {BASE: HANGING + "def base(x): return x + 1"}))
    assert time.monotonic() - started < 10
    assert threading.active_count() <= threads + 4 * len(crew)  # those that remove folders stay
    assert not [one for one in threading.enumerate() if one.name.startswith("notebook")]
    assert nothing_left(fork_server)
    for one in crew:
        one.settle()
        assert not list(one._base.glob("answers-*"))
    assert run(submitted(assignment), assignment, crew).points == {"base": 3, "twice": 2, "plain": 1, "last": 1}


@pytest.mark.parametrize("error", [RuntimeError("a fault of ours"), KeyboardInterrupt()], ids=["fault", "Ctrl-C"])
def test_a_fault_in_a_thread_is_raised_and_the_others_end(crew, assignment, fork_server, monkeypatch, error):
    def go(submission: Submission) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(running, "run", failing(["last"], error))
            run(submission, assignment, crew, Limits(cell_seconds=60))

    assert_they_end_and_the_kernels_can_be_used_again(crew, assignment, fork_server, type(error), go)


def test_ctrl_c_ends_all_of_them(crew, assignment, fork_server):
    def go(submission: Submission) -> None:
        main = threading.main_thread().ident
        assert main is not None
        key = threading.Timer(2.0, signal.pthread_kill, (main, signal.SIGINT))
        key.start()
        try:
            run(submission, assignment, crew, Limits(cell_seconds=60))
        finally:
            key.cancel()  # where the run did not last that long, pytest itself would be stopped

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored
    try:
        assert_they_end_and_the_kernels_can_be_used_again(crew, assignment, fork_server, KeyboardInterrupt, go)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_fault_of_the_judge_ends_the_others(crew, assignment, fork_server, monkeypatch):
    def stop(name: str, ran: object) -> None:
        raise RuntimeError("a fault of ours")

    def go(submission: Submission) -> None:
        slow_last = submitted(assignment, {LAST: HANGING + "def last(x): return x"})
        grade_submission(slow_last, assignment, crew[0], Limits(cell_seconds=60), stop, crew[1:])

    assert_they_end_and_the_kernels_can_be_used_again(crew, assignment, fork_server, RuntimeError, go)


def test_a_flood_costs_only_the_notebook_that_it_comes_from(crew, assignment, caplog):
    """Nobody can tell whose it is as long as several run: they are run again, alone."""
    flood = f"import time\ntime.sleep(1)\n{ENDLESS}\nsend(400)"
    sleeping = "import time\ntime.sleep(2)\ndef {0}(x): return {1}"
    answers = {BASE: sleeping.format("base", "x + 1"), TWICE: flood, PLAIN: sleeping.format("plain", "-x")}
    submission = submitted(assignment, answers)
    with caplog.at_level(logging.INFO, "autograder"):
        together = run(submission, assignment, crew)
    assert "one after the other" in caplog.text
    assert together.points == {"base": 3, "twice": 0, "plain": 1, "last": 1}
    assert together.result == run(submission, assignment, crew[:1]).result
    assert "flooded" in json.dumps(together.graded.log)


def test_the_notebooks_of_a_class_of_one_are_run_side_by_side(tmp_path, monkeypatch):
    made = made_once("two-notebooks", lambda place: course_of_exercises(place, "[13]_*"))
    course = without_warm_modules(Course(shutil.copytree(made, tmp_path / "course")))
    monkeypatch.setattr(classroom, "notebooks_at_once", lambda notebooks, limits, students, workers: workers)
    asked: list[int] = []
    real = classroom.local_results

    def local_results(jobs: list[Job], workers: int, **others: Any) -> Iterator[JobResult]:
        asked.extend(job.notebooks_at_once for job in jobs)
        return real(jobs, workers, **others)

    monkeypatch.setattr(classroom, "local_results", local_results)
    (alone,) = grade_class(course, GradingOptions(SMALL))
    (together,) = grade_class(course, GradingOptions(SMALL, workers=2, force=True))
    assert asked == [1, 2]
    assert len(alone.points) == 2 and alone.total == sum(alone.max_points.values())
    assert together == alone


@pytest.mark.parametrize(
    ("notebooks", "workers", "submissions", "memory", "disk", "expected"),
    [
        (4, 8, 1, 64, 64, 4), (4, 8, 3, 64, 64, 2), (4, 2, 1, 64, 64, 2), (4, 2, 30, 64, 64, 1), (4, 8, 1, 9, 64, 2),
        (4, 8, 1, 1, 64, 1), (4, 8, 2, 9, 64, 1), (4, 8, 1, 64, 3, 3),
    ],
)  # fmt: skip
def test_notebooks_run_side_by_side_where_cores_memory_and_disk_are_left(
    monkeypatch, notebooks, workers, submissions, memory, disk, expected
):
    monkeypatch.setattr(at_once, "free_memory", lambda: memory << 30)
    monkeypatch.setattr(at_once, "cores", lambda: 16)
    monkeypatch.setattr("autograder.kernel.scratch._free", lambda folder: disk << 30)
    limits = Limits(memory_bytes=4 << 30, disk_bytes=256 << 20)
    assert at_once.notebooks_at_once(notebooks, limits, submissions, workers) == expected
    monkeypatch.setattr(at_once, "cores", lambda: 1)
    assert at_once.notebooks_at_once(notebooks, limits, submissions, workers) == 1


@pytest.mark.parametrize(
    ("files", "cores", "gigabytes"),
    [
        ({}, 8, 32),
        ({"cpu.max": "max 100000", "memory.max": "max"}, 8, 32),
        ({"cpu.max": "250000 100000", "memory.max": str(6 << 30)}, 2, 6),
        ({"cpu.max": "50000 100000"}, 1, 32),
        ({"a/cpu.max": "400000 100000", "cpu.max": "300000 100000", "a/memory.max": str(5 << 30)}, 3, 5),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8, 32),
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000",
          "memory/memory.limit_in_bytes": str(7 << 30)}, 2, 7),
    ],
)  # fmt: skip
def test_a_container_has_what_it_was_given(monkeypatch, files, cores, gigabytes):
    known = {str(at_once._GROUPS / name): text for name, text in files.items()}
    known |= {"/proc/self/cgroup": "1:cpu:/x\n0::/a\n", "/proc/meminfo": f"MemFree: 1 kB\nMemAvailable: {32 << 20} kB"}
    monkeypatch.setattr(at_once, "_lines", lambda path: known.get(str(path), "").splitlines())
    monkeypatch.setattr(at_once.os, "sched_getaffinity", lambda pid: set(range(8)))
    assert (at_once.cores(), at_once.free_memory() >> 30) == (cores, gigabytes)

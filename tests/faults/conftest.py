"""A small course, how it is graded when nothing goes wrong, and a grader that things can be done to."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from nbgrader.api import Gradebook
from sqlalchemy import text

from autograder.classroom.workers import PROCESS_NAME
from autograder.model.course import Course
from tests.grading import leave_out_shown
from tools.bench.courses import environment, make_course, without_warm_modules

#: Says whether a process is of the kind that is to be killed.
Victim = Callable[[psutil.Process], bool]

ASSIGNMENT, NOTEBOOK = "numpy_attention", "1_attention"  # needs no torch: a grader starts within a second
SUBMISSIONS = 5
#: How often each process is killed: FAULTS_ROUNDS=6 kills thirty times in all.
ROUNDS = int(os.environ.get("FAULTS_ROUNDS", "1"))
MOMENTS = ROUNDS + 1


@pytest.fixture(scope="session")
def small_course(tmp_path_factory) -> Course:
    """Five submissions of one notebook: solved, and two that are not."""
    folder = tmp_path_factory.mktemp("faults") / "course"
    course = without_warm_modules(make_course(folder, SUBMISSIONS, only=NOTEBOOK, assignment=ASSIGNMENT))
    leave_out_shown(course.root, ASSIGNMENT)
    for student in ("student0001", "student0003"):
        released = course.root / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
        shutil.copy(released, course.submitted(student, ASSIGNMENT))
    return course


@pytest.fixture
def course(small_course, tmp_path) -> Course:
    return Course(shutil.copytree(small_course.root, tmp_path / "course"))


def grader(course: Course, *words: str, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "autograder.cli", "grade", ASSIGNMENT, "--workers", "2", *words]
    log = (course.root / "grader.log").open("ab")
    settings = {"cwd": course.root, "env": environment(), "stdout": log, "stderr": log, **options}
    return subprocess.Popen(command, **settings)


def finish(course: Course, *words: str) -> int:
    """Grade to the end, as the instructor would who types the command again."""
    code = grader(course, *words).wait(timeout=300)
    assert code in (0, 1), (course.root / "grader.log").read_text()[-3000:]
    return code


@pytest.fixture(scope="session")
def undisturbed(small_course, tmp_path_factory) -> dict[str, tuple[float, ...]]:
    course = Course(shutil.copytree(small_course.root, tmp_path_factory.mktemp("calm") / "course"))
    assert finish(course) == 0
    return grades(course)


def grades(course: Course) -> dict[str, tuple[float, ...]]:
    """student -> automatic scores, one per row of the gradebook: a row too many would show."""
    with Gradebook(course.db_url) as gradebook:
        return {
            submission.student.id: tuple(
                grade.auto_score for notebook in submission.notebooks for grade in notebook.grades
            )
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def assert_as_if_nothing_had_happened(course: Course, undisturbed: dict[str, tuple[float, ...]]) -> None:
    assert grades(course) == undisturbed
    with Gradebook(course.db_url) as gradebook:
        assert gradebook.db.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    for student in undisturbed:
        assert (course.autograded(student, ASSIGNMENT) / "verdicts.json").is_file()
    left = [path.name for path in (course.root / "autograded").rglob(".*")]
    assert not left, f"half-written folders were left behind: {left}"


def random_moments(
    process: subprocess.Popen[bytes], count: int, longest: float, chance: random.Random
) -> Iterator[None]:
    """Up to ``count`` random moments in the life of a process, at most ``longest`` seconds apart."""
    for _ in range(count):
        time.sleep(chance.uniform(0.05, longest))
        if process.poll() is not None:
            return
        yield


def below(process: subprocess.Popen[bytes], wanted: Callable[[psutil.Process], bool]) -> list[psutil.Process]:
    """The descendants of a process that are wanted; none that ends while being looked at."""
    found = []
    try:
        for child in psutil.Process(process.pid).children(recursive=True):
            try:
                if wanted(child):
                    found.append(child)
            except psutil.Error:
                continue
    except psutil.Error:
        pass
    return found


def kill_beneath(course: Course, victims: list[Victim | None], chance: random.Random) -> None:
    """Grade by force, again and again, until each of ``victims`` (None: the grader) was killed, in this order."""
    process = grader(course, "--force")
    for victim in victims:
        killed = False
        while not killed:
            if process.poll() is not None:
                process = grader(course, "--force")
            elif not below(process, is_kernel):  # a grader that has not begun to grade is no news
                time.sleep(0.02)
            else:
                time.sleep(chance.uniform(0.05, 1.0))
                killed = _kill_one(process, victim, chance)
    process.wait(timeout=300)


def _kill_one(process: subprocess.Popen[bytes], victim: Victim | None, chance: random.Random) -> bool:
    """Whether there was one to be killed: a kernel lives for a moment only, and may have ended by itself."""
    found = below(process, victim) if victim else [psutil.Process(process.pid)] if process.poll() is None else []
    try:
        if found:
            chance.choice(found).kill()
    except psutil.Error:
        return False
    return bool(found)


def is_worker(process: psutil.Process) -> bool:
    return process.name() == PROCESS_NAME


def is_fork_server(process: psutil.Process) -> bool:
    return _is_fork_server_family(process) and not _is_fork_server_family(process.parent())


def is_kernel(process: psutil.Process) -> bool:
    """Or the supervisor above one."""
    return _is_fork_server_family(process) and _is_fork_server_family(process.parent())


def _is_fork_server_family(process: psutil.Process) -> bool:
    return "kernel.warm_process" in " ".join(process.cmdline())


@contextmanager
def holding(database: Path) -> Iterator[None]:
    """The gradebook locked by somebody else."""
    import sqlite3

    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()

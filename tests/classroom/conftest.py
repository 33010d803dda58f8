"""The class of tests/regrade/changing_course, graded without kernels: every cell has all its points."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom import run as classroom
from autograder.classroom.run import GradingOptions, Row, grade_class
from autograder.classroom.workers import Job, JobResult
from autograder.model.course import Course
from autograder.model.verdict import Graded, SubmissionVerdict
from autograder.pipeline.fingerprint import submission_parts
from autograder.pipeline.rebuild import ungraded_verdict
from tests.fork_servers import fork_servers_are_kept  # noqa: F401
from tests.once import made_once
from tests.regrade.changing_course import SHEET, hand_in, make

STUDENTS = ["ada", "bob", "eve"]


def full_marks(job: Job) -> JobResult:
    """Grading without a kernel: every cell has all its points."""
    assignment = Assignment.open(job.course, job.assignment)
    submission = read_submission(job.course.submitted(job.student, job.assignment), job.student, assignment)
    said = [ungraded_verdict(assignment, name, job.student, "passed", "") for name in assignment.source]
    verdicts = tuple(
        replace(one, cells=tuple(replace(cell, points=cell.max_points, checks=()) for cell in one.cells))
        for one in said
    )
    ran = tuple(assignment.source)
    graded = Graded(SubmissionVerdict(job.student, job.assignment, verdicts), {}, (), slowest=2.0, ran=ran)
    return JobResult(job, graded, submission=submission_parts(submission))


def results_of(monkeypatch: pytest.MonkeyPatch, work: Callable[[Job], JobResult]) -> None:
    """Let ``work`` do what workers would."""
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(work, todo))


@pytest.fixture(scope="session")
def graded_course() -> Course:
    """Three students graded, without kernels; made once in a run, and only copied."""
    return Course(made_once("graded without kernels", make_graded_course))


def make_graded_course(root: Path) -> None:
    make(root)
    hand_in(root, "eve")
    with pytest.MonkeyPatch.context() as patched:
        results_of(patched, full_marks)
        grade(Course(root))


@pytest.fixture(name="course")
def copied_course(graded_course, tmp_path, monkeypatch) -> Course:
    results_of(monkeypatch, full_marks)
    return Course(shutil.copytree(graded_course.root, tmp_path / "course"))


def grade(course: Course, **options: object) -> list[Row]:
    return grade_class(course, GradingOptions(SHEET, **options))


def why(course: Course, **options: object) -> set[str]:
    return {row.again or ("graded before" if row.skipped else "?") for row in grade(course, **options)}

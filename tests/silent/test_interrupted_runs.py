"""Runs that fail or are cut off: no old grade passes for a new one, the next run goes on, one line says why."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from autograder import cli
from autograder.classroom import run as classroom
from autograder.classroom.workers import Job, JobResult
from autograder.gradebook import write as gradebook_module
from autograder.gradebook.gather import gather
from autograder.model.course import Course
from tests.silent.without_kernels import NOTEBOOK, STUDENTS, copied_course, full_marks, grade, graded_course, why  # noqa: F401
from tools.bench.courses import ASSIGNMENT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fixes")]


@pytest.fixture
def failing(monkeypatch) -> str:
    def fail(job: Job) -> JobResult:
        return JobResult(job, None, "the worker died", "details") if job.student == STUDENTS[1] else full_marks(job)

    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(fail, todo))
    return STUDENTS[1]


def test_an_old_grade_does_not_pass_for_that_of_a_failed_run(course, failing):
    rows = {row.student: row for row in grade(course, force=True)}
    log = Path(".autograder") / "logs" / ASSIGNMENT / f"{failing}.log"
    assert rows[failing].failure == f"the worker died (log: {log})"
    assert "details" in (course.root / log).read_text()
    states = {row.student.id: (row.state, row.score) for row in gather(course, ASSIGNMENT).rows}
    assert states.pop(failing) == ("infrastructure", None)
    assert all(state == "graded" for state, _ in states.values())


def test_a_failed_submission_is_graded_by_the_next_run(course, failing, monkeypatch):
    grade(course, force=True)
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(full_marks, todo))
    rows = {row.student: row for row in grade(course)}
    assert not rows[failing].failure and not rows[failing].skipped
    assert all(row.skipped for student, row in rows.items() if student != failing)


def test_an_old_grade_does_not_pass_for_that_of_a_submission_without_notebooks(course):
    (course.submitted(STUDENTS[2], ASSIGNMENT) / f"{NOTEBOOK}.ipynb").unlink()
    grade(course)
    states = {row.student.id: row.state for row in gather(course, ASSIGNMENT).rows}
    assert states == {STUDENTS[0]: "graded", STUDENTS[1]: "graded", STUDENTS[2]: "infrastructure"}


def interrupted(jobs: list[Job], after: int) -> Iterator[JobResult]:
    yield from map(full_marks, jobs[:after])
    raise KeyboardInterrupt


def test_a_forced_run_goes_on_where_it_was_interrupted(course, monkeypatch):
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: interrupted(todo, 2))
    with pytest.raises(KeyboardInterrupt):
        grade(course, force=True)
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(full_marks, todo))
    assert [row.skipped for row in grade(course, force=True)] == [True, True, False]
    assert not any(row.skipped for row in grade(course, force=True)), "complete: the next one begins anew"


def test_an_interrupted_run_for_some_spares_nobody_when_all_are_forced(course, monkeypatch):
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: interrupted(todo, 1))
    with pytest.raises(KeyboardInterrupt):
        grade(course, force=True, students=(STUDENTS[0], STUDENTS[1]))
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(full_marks, todo))
    assert not any(row.skipped for row in grade(course, force=True))


def test_a_run_without_force_goes_on_with_it_too(course, monkeypatch):
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: interrupted(todo, 2))
    with pytest.raises(KeyboardInterrupt):
        grade(course, force=True)
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(full_marks, todo))
    assert [row.skipped for row in grade(course)] == [True, True, False]
    assert not any(row.skipped for row in grade(course, force=True))


def one_line_and_exit_code_2(course: Course, capsys) -> str:
    assert cli.main(["--course", str(course.root), "grade", ASSIGNMENT, "--force", "--no-isolation"]) == 2
    said = capsys.readouterr()
    assert len(said.err.strip().splitlines()) == 1 and "Traceback" not in said.out + said.err
    return said.err


def test_a_full_disk_is_said_in_one_line_and_the_run_goes_on_later(course, capsys, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device", "verdicts.json")

    with monkeypatch.context() as patched:
        patched.setattr(classroom, "write_autograded", full)
        assert "verdicts.json: No space left on device; when that is mended" in one_line_and_exit_code_2(course, capsys)
    assert not any(row.failure for row in grade(course, force=True))


def test_a_folder_that_cannot_be_written_is_said_in_one_line(course, capsys):
    lock = course.root / ".autograder" / f"{ASSIGNMENT}.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()
    assert ".autograder cannot be written: Is a directory" in one_line_and_exit_code_2(course, capsys)


@pytest.mark.parametrize("reason", ["database or disk is full", "attempt to write a readonly database"])
def test_a_gradebook_that_cannot_be_written_is_not_waited_for(course, capsys, monkeypatch, reason):
    def refuse(*given):
        raise OperationalError("UPDATE", {}, sqlite3.OperationalError(reason))

    monkeypatch.setattr(gradebook_module, "_save", refuse)
    monkeypatch.setattr(gradebook_module.time, "sleep", lambda seconds: pytest.fail("it waited"))
    assert f"the gradebook cannot be written: {reason}" in one_line_and_exit_code_2(course, capsys)


def test_what_a_run_left_half_written_is_removed(course):
    left = course.autograded(STUDENTS[0], ASSIGNMENT).with_name(f".{ASSIGNMENT}.new")
    left.mkdir()
    grade(course)
    assert not left.exists()

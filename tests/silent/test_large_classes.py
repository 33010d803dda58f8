"""A class of thousands: what the one writing process keeps of each student is little."""

from __future__ import annotations

import gc
import shutil
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.classroom import run as classroom
from autograder.classroom.run import GradingOptions, grade_class
from autograder.classroom.workers import Job, JobResult
from autograder.gradebook import gather as gathering
from autograder.gradebook import parts
from autograder.model.course import Course
from benchmarks.large import ASSIGNMENT, make_tiny_course
from tests.once import made_once
from tests.silent.without_kernels import full_marks

pytestmark = pytest.mark.slow

SMALL, PART = 60, 20
#: Bytes. One row with dictionaries of its own takes about half of it.
PER_STUDENT = 1800


def tiny(folder: Path, submissions: int) -> Course:
    """A copy of the first submissions of a class of one-cell notebooks."""
    made = made_once("tiny class", lambda place: make_tiny_course(place, 3 * SMALL))
    course = Course(shutil.copytree(made, folder))
    for student in course.everybody_submitted(ASSIGNMENT)[submissions:]:
        shutil.rmtree(course.submitted(student, ASSIGNMENT).parent)
    return course


def same_for_all(course: Course, todo: list[Job], order: GradingOptions, warm: object) -> Iterator[JobResult]:
    first = full_marks(todo[0])
    assert first.graded is not None
    for job in todo:
        verdict = replace(first.graded.verdict, student=job.student)
        yield replace(first, job=job, graded=replace(first.graded, verdict=verdict))


def kept_at_the_end(course: Course, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes: the most that is in memory while the table is made, of what was taken since the run began."""
    peaks: list[int] = []
    table = classroom._Run._table

    def watched(run: classroom._Run, students: list[str]) -> list[classroom.Row]:
        gc.collect()
        tracemalloc.reset_peak()
        rows = table(run, students)
        peaks.append(tracemalloc.get_traced_memory()[1])
        return rows

    with monkeypatch.context() as patched:
        patched.setattr(classroom, "_results", same_for_all)
        patched.setattr(classroom._Run, "_table", watched)
        tracemalloc.start()
        try:
            rows = grade_class(course, GradingOptions(ASSIGNMENT))
        finally:
            tracemalloc.stop()
    assert {row.total for row in rows} == {2.0}
    return peaks[0]


def test_what_is_kept_of_each_student_is_little(tmp_path, monkeypatch):
    for module in (parts, gathering):
        monkeypatch.setattr(module, "PART", PART)
    kept_at_the_end(tiny(tmp_path / "first", PART + 1), monkeypatch)  # what is kept once and for all

    def of_each(name: str) -> float:
        small, large = (
            kept_at_the_end(tiny(tmp_path / f"{name}{size}", size), monkeypatch) for size in (SMALL, 3 * SMALL)
        )
        return (large - small) / (2 * SMALL)

    found = of_each("once")
    if found >= PER_STUDENT:  # Python may have made its table of names larger meanwhile
        found = min(found, of_each("again"))
    assert found < PER_STUDENT

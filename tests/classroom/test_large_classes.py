"""A class of thousands: what the one writing process keeps of each student is little.

It is measured in a process of its own, which runs this file: beside other tests the figure is of them too. Python's
table of names grows when it will, and threads that they left take memory meanwhile.
"""

import gc
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.classroom import run as classroom
from autograder.classroom.run import GradingOptions, grade_class
from autograder.classroom.workers import Job, JobResult
from autograder.gradebook import gather as gathering
from autograder.gradebook import read
from autograder.model.course import Course
from tests.classroom.conftest import full_marks
from tests.grading import ROOT
from tools.bench.large import ASSIGNMENT, make_tiny_course

pytestmark = pytest.mark.slow

SMALL, PART = 40, 10
#: Bytes. One row with dictionaries of its own takes about half of it.
PER_STUDENT = 1800


def tiny(made: Path, submissions: int) -> Course:
    """A copy of the class of one-cell notebooks, with the first submissions alone."""
    course = Course(shutil.copytree(made, made.with_name(f"of {submissions}")))
    for student in course.everybody_submitted(ASSIGNMENT)[submissions:]:
        shutil.rmtree(course.submitted(student, ASSIGNMENT).parent)
    return course


def same_for_all(course: Course, todo: list[Job], order: GradingOptions, server: object) -> Iterator[JobResult]:
    first = full_marks(todo[0])
    assert first.graded is not None
    for job in todo:
        verdict = replace(first.graded.verdict, student=job.student)
        yield replace(first, job=job, graded=replace(first.graded, verdict=verdict))


def kept_at_the_end(course: Course) -> int:
    """Bytes: the most that is in memory while the table is made, of what was taken since the run began."""
    peaks: list[int] = []
    table = classroom._Run._table

    def watched(run: classroom._Run, students: list[str]) -> list[classroom.Row]:
        gc.collect()
        tracemalloc.reset_peak()
        rows = table(run, students)
        peaks.append(tracemalloc.get_traced_memory()[1])
        return rows

    with pytest.MonkeyPatch.context() as patched:
        for module in (read, gathering):
            patched.setattr(module, "PART", PART)
        patched.setattr(classroom, "_results", same_for_all)
        patched.setattr(classroom._Run, "_table", watched)
        tracemalloc.start()
        try:
            rows = grade_class(course, GradingOptions(ASSIGNMENT))
        finally:
            tracemalloc.stop()
    assert {row.total for row in rows} == {2.0}
    return peaks[0]


def kept_of_each(folder: Path) -> float:
    """Bytes of one student: the difference of two classes, so that what is kept once does not count."""
    make_tiny_course(folder / "made", 3 * SMALL)
    kept_at_the_end(tiny(folder / "made", PART + 1))
    small, large = (kept_at_the_end(tiny(folder / "made", size)) for size in (SMALL, 3 * SMALL))
    return (large - small) / (2 * SMALL)


def test_what_is_kept_of_each_student_is_little(tmp_path):
    command = [sys.executable, "-m", "tests.classroom.test_large_classes", str(tmp_path)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert float(answer.stdout.split()[-1]) < PER_STUDENT


if __name__ == "__main__":
    print(kept_of_each(Path(sys.argv[1])))

"""Grades that must not pass unnoticed: of another version, of a submission that is gone or has no time, by a test that
may be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext

from autograder.assignment.assignment import Assignment
from autograder.classroom.journal import Journal, described
from autograder.errors import GradingError
from autograder.gradebook.gather import gather_in_parts
from autograder.gradebook.groups import doubled
from autograder.gradebook.hints import hints_of
from autograder.gradebook.read import open_book
from autograder.gradebook.results import StudentResult, named
from autograder.model.course import Course
from autograder.pipeline.fingerprint import MACHINE, Parts, digest


def stale_grade_warnings(course: Course, assignment: str, rows: Sequence[StudentResult] | None = None) -> list[str]:
    """A line for each kind. Raises GradingError where the journal or the gradebook cannot be read.

    rows: the class's results, where they were gathered already.
    """
    remarks = [
        *_of_another_version(course, assignment),
        *_without_submission(course, assignment),
        *_handed_in_twice(course, assignment),
    ]
    if rows is not None:
        return [*remarks, *_of_the_class(course, assignment, rows)]
    graded = sorted(filter(course.takes, course.everybody_autograded(assignment)))
    with open_book(course.db_url) or nullcontext() as book:
        return [*remarks, *_of_the_class(course, assignment, gather_in_parts(course, assignment, book, graded))]


def _of_the_class(course: Course, assignment: str, rows: Iterable[StudentResult]) -> list[str]:
    """On the rows of everybody, which are gone through once."""
    timeless: list[str] = []

    def seen() -> Iterable[StudentResult]:
        for row in rows:
            if row.exercises and row.lateness is not None and row.submitted_at is None:
                timeless.append(row.student.id)
            yield row

    try:
        hints = hints_of(course, Assignment.open(course, assignment), seen())
    except GradingError:  # there is no release to compare with; who depends on it says so
        return []
    late = f"{_counted(timeless)}: no recorded time, so counted as on time ('autograder collect' records times)"
    return [*([late] if timeless else []), *map(str, hints)]


def _of_another_version(course: Course, assignment: str) -> list[str]:
    """Who was graded before a change of the course that the newest grade knows of."""
    journal, there = Journal(course.root, assignment), set(course.everybody_autograded(assignment))
    versions: dict[str, Parts] = {}
    graded_by: dict[str, list[str]] = {}
    newest = ""
    for student in journal.graded():
        if student in there and (entry := journal.entry(student)) is not None:
            parts = {name: value for name, value in entry.trusted.items() if name not in MACHINE}
            newest = digest(parts)
            versions[newest] = parts
            graded_by.setdefault(newest, []).append(student)
    apart = sorted(student for version, students in graded_by.items() if version != newest for student in students)
    if not apart:
        return []
    now = versions[newest]
    changed = {name for one in versions.values() for name in {**one, **now} if one.get(name) != now.get(name)}
    return [
        f"{_counted(apart)}: graded before {', '.join(described(sorted(changed)))} changed, unlike others; "
        f"run 'autograder grade {assignment}'"
    ]


def _without_submission(course: Course, assignment: str) -> list[str]:
    handed_in = set(course.everybody_submitted(assignment))
    gone = set(filter(course.takes, course.everybody_autograded(assignment))) - handed_in
    if not gone or not handed_in:  # where there is none at all, they lie elsewhere
        return []
    return [f"{_counted(sorted(gone))}: graded, and the submission is gone since; this grade stays as it is"]


def _handed_in_twice(course: Course, assignment: str) -> list[str]:
    return [
        f"several of the group {group.name} ({named(group.members)}) handed in the same files: {student}'s count"
        for group, student in doubled(course, assignment)
    ]


def _counted(students: list[str]) -> str:
    return f"{len(students)} {'student' if len(students) == 1 else 'students'} ({named(students)})"

"""Grades that must not pass unnoticed: made by another version than others, or of a submission that is gone."""

from __future__ import annotations

from autograder.classroom.fingerprint import MACHINE, Parts, digest
from autograder.classroom.journal import Journal
from autograder.classroom.regrade import described
from autograder.gradebook.results import named
from autograder.model.course import Course


def standing_remarks(course: Course, assignment: str) -> list[str]:
    """A line for each kind. Raises GradingError where the journal cannot be read."""
    return [*_of_another_version(course, assignment), *_without_submission(course, assignment)]


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


def _counted(students: list[str]) -> str:
    return f"{len(students)} {'student' if len(students) == 1 else 'students'} ({named(students)})"

"""Grades that must not pass unnoticed: of another version, of a submission that is gone, replaced or has no time, by a
test that may be wrong; and names in a list that are nobody's.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom.journal import Journal, described
from autograder.errors import GradingError, UnreadableSubmission
from autograder.gradebook.gather import gather_in_parts
from autograder.gradebook.groups import NAME, doubled, read_groups
from autograder.gradebook.hints import hints_of
from autograder.gradebook.read import open_book, read_students
from autograder.gradebook.results import StudentResult, counted, named
from autograder.model.course import Course
from autograder.pipeline.fingerprint import MACHINE, Parts, digest, submission_parts


def stale_grade_warnings(
    course: Course,
    assignment: str,
    rows: Sequence[StudentResult] | None = None,
    newer: Collection[str] | None = None,
) -> list[str]:
    """A line for each kind. Raises GradingError where the journal or the gradebook cannot be read.

    rows: the class's results; newer: :func:`handed_in_newer`; where they were found out already.
    """
    newer = handed_in_newer(course, assignment) if newer is None else newer
    again = f"handed in something newer, which is not graded; run 'autograder grade {assignment}'"
    remarks = [
        *([f"{counted(sorted(newer))}: {again}"] if newer else []),
        *_of_another_version(course, assignment),
        *_without_submission(course, assignment),
        *_of_groups(course, assignment),
    ]
    if rows is not None:
        return [*remarks, *_of_the_class(course, assignment, rows)]
    graded = sorted(filter(course.takes, course.everybody_autograded(assignment)))
    with open_book(course.db_url) or nullcontext() as book:
        return [*remarks, *_of_the_class(course, assignment, gather_in_parts(course, assignment, book, graded))]


def handed_in_newer(course: Course, assignment: str) -> list[str]:
    """The students with a grade that was made from another submission than the one that is there."""
    journal = Journal(course.root, assignment)
    entries = {one: journal.entry(one) for one in course.everybody_submitted(assignment)}
    graded = {one: entry.submission for one, entry in entries.items() if entry is not None}
    try:
        opened = Assignment.open(course, assignment) if graded else None
    except GradingError:  # never released: who depends on it says so
        return []
    return [one for one, parts in graded.items() if opened and parts != _submission(course, opened, one)]


def _submission(course: Course, assignment: Assignment, student: str) -> Parts:
    try:
        return submission_parts(read_submission(course.submitted(student, assignment.name), student, assignment))
    except UnreadableSubmission:
        return {}


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
    late = f"{counted(timeless)}: no recorded time, so counted as on time ('autograder collect' records times)"
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
        f"{counted(apart)}: graded before {', '.join(described(sorted(changed)))} changed, unlike others; "
        f"run 'autograder grade {assignment}'"
    ]


def _without_submission(course: Course, assignment: str) -> list[str]:
    handed_in = set(course.everybody_submitted(assignment))
    gone = set(filter(course.takes, course.everybody_autograded(assignment))) - handed_in
    if not gone or not handed_in:  # where there is none at all, they lie elsewhere
        return []
    return [f"{counted(sorted(gone))}: graded, and the submission is gone since; this grade stays as it is"]


def _of_groups(course: Course, assignment: str) -> list[str]:
    groups = read_groups(course.root).get(assignment, ())
    members = {member for group in groups for member in group.members}
    if not members:
        return []
    with open_book(course.db_url) or nullcontext() as book:
        nobody = sorted(members - {*read_students(book), *course.everybody_submitted()})
    there = {*course.everybody_submitted(assignment), *course.everybody_autograded(assignment)}
    silent = [group for group in groups if group.members and there.isdisjoint(group.members)]
    unknown = f"in {NAME}, but neither in the gradebook nor in submitted/: is this their id?"
    lines = [f"{counted(nobody)}: {unknown}"] if nobody else []
    lines += [f"nobody of the group {group.name} ({named(group.members)}) has handed in" for group in silent]
    return lines + [
        f"several of the group {group.name} ({named(group.members)}) handed in the same files: {student}'s count"
        for group, student in doubled(course, assignment)
    ]

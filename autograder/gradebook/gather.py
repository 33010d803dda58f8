"""Gathering results: from the gradebook, the verdicts, the late policy and the recorded times."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime

from nbgrader.api import Gradebook

from autograder.errors import NothingToGrade
from autograder.gradebook.groups import read_groups, shared_times, submitters
from autograder.gradebook.late.file import read_policy
from autograder.gradebook.late.policy import Lateness, LatePolicy, decide_term
from autograder.gradebook.late.times import course_times
from autograder.gradebook.late.written import is_ours, read_written
from autograder.gradebook.read import Book, Grade, Key, Student, open_book, read_book
from autograder.gradebook.regradings import read_regradings
from autograder.gradebook.results import (
    NOT_GRADED,
    ExerciseResult,
    GradedExercise,
    ResultsTable,
    StudentResult,
    check_one_version,
    result_of,
    waived,
)
from autograder.gradebook.waivers import Waiver, waivers_of
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, SubmissionVerdict


def gather(course: Course, assignment: str) -> ResultsTable:
    """The class's results. Raises NothingToGrade where nothing is graded, GradingError for a wrong late policy or
    where some were graded with other points than the assignment has now."""
    with open_book(course.db_url) or nullcontext() as gradebook:
        table = gather_from(course, assignment, gradebook)
    if not any(row.exercises for row in table.rows):
        raise NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")
    check_one_version(table)
    return table


def gather_one(course: Course, assignment: str, student: str) -> StudentResult | None:
    """One student's result; None where nobody has heard of them."""
    with open_book(course.db_url) or nullcontext() as gradebook:
        table = gather_from(course, assignment, gradebook, {student})
    return next(iter(table.rows), None)


def gather_from(
    course: Course, assignment: str, gradebook: Gradebook | None, students: Collection[str] | None = None
) -> ResultsTable:
    """As :func:`gather`, from an open gradebook, and unchecked; ``students``: these alone. A table may be empty."""
    graded = set(course.everybody_autograded(assignment))
    handed_in = set(course.everybody_submitted(assignment))
    groups = read_groups(course.root, course.assignments())
    together = submitters(groups.get(assignment, ()), assignment, handed_in | graded)
    asked = None if students is None else {together.get(student, student) for student in students}
    book = read_book(gradebook, assignment, asked)
    everybody = {*book.students, *book.grades, *graded, *handed_in, *together}
    wanted = sorted(everybody if students is None else everybody & set(students))
    theirs = {together.get(student, student) for student in wanted}
    said, unreadable = _read_verdicts(course, assignment, sorted(theirs & graded))
    members = {member for group in groups.get(assignment, ()) for member in group.members}
    policy = policy_of(course, everybody | members)
    names = {assignment, *(policy.assignments if policy else ())}
    times = {name: shared_times(groups.get(name, ()), course_times(course, name)) for name in names}
    speaks = bool(policy and assignment in policy.assignments)
    withdrawn = {} if speaks else read_written(course.root, assignment)  # by a policy that is no more
    exercises = _exercises(said.values(), book)
    waivers = waivers_of(course.root, assignment, {*book.max_points, *(one.key for one in exercises)})
    again = read_regradings(course.root, assignment)
    rows = []
    for student in wanted:
        by = together.get(student, student)  # who handed in
        results = _results(said.get(by), book.grades.get(by, {}))
        if not results and by in handed_in | graded:
            results = {one.key: ExerciseResult(NOT_GRADED, None, one.max_points) for one in exercises}
        rows.append(
            StudentResult(
                book.students.get(student, Student(student)),
                {one.key: _counted(results[one.key], waivers.get(one.key)) for one in exercises if one.key in results},
                _comments(book, by),
                times[assignment].get(student),
                _lateness(policy, assignment, student, times) if results else None,
                0.0 if is_ours(penalty := book.penalties.get(by, 0.0), withdrawn.get(by)) else penalty,
                _of(student, said.get(by)),
                again.get(by, ()),
                "" if by == student else by,
            )
        )
    shown = tuple(replace(one, max_points=0.0) if _dropped(waivers.get(one.key)) else one for one in exercises)
    given = tuple(waivers.values())
    return ResultsTable(assignment, shown, tuple(rows), speaks, unreadable, book.max_points, given)


def _counted(result: ExerciseResult, waiver: Waiver | None) -> ExerciseResult:
    return result if waiver is None else waived(result, waiver)


def _of(student: str, verdict: SubmissionVerdict | None) -> SubmissionVerdict | None:
    """The verdict as this member of the group reads it."""
    if verdict is None or verdict.student == student:
        return verdict
    books = tuple(replace(one, student=student) for one in verdict.notebooks)
    return replace(verdict, student=student, notebooks=books)


def _dropped(waiver: Waiver | None) -> bool:
    return waiver is not None and waiver.counts == "drop"


def policy_of(course: Course, students: Collection[str]) -> LatePolicy | None:
    """The course's late policy, checked against the assignments and students that exist."""
    return read_policy(course.root, course.assignments() or None, {*students, *course.everybody_submitted()})


def _lateness(
    policy: LatePolicy | None, assignment: str, student: str, times: Mapping[str, Mapping[str, datetime]]
) -> Lateness | None:
    if policy is None or assignment not in policy.assignments:
        return None
    return decide_term(policy, assignment, student, times)


def _read_verdicts(
    course: Course, assignment: str, students: Iterable[str]
) -> tuple[dict[str, SubmissionVerdict], dict[str, str]]:
    """Student to verdict, and student to the reason why there is none that can be read: the grader's failure."""
    found: dict[str, SubmissionVerdict] = {}
    unreadable: dict[str, str] = {}
    for student in students:
        try:
            read = verdicts.read(course.autograded(student, assignment) / "verdicts.json")
            found[student] = replace(read, student=student)
        except (OSError, ValueError, KeyError, TypeError) as error:
            unreadable[student] = f"{type(error).__name__}: {error}"[:200]
    return found, unreadable


def _exercises(said: Iterable[SubmissionVerdict], book: Book) -> list[GradedExercise]:
    """Every exercise that anybody has a result in, in the order of the notebooks and of the cells in them."""
    found: dict[Key, float] = {}
    for verdict in said:
        for notebook in verdict.notebooks:
            for cell in notebook.cells:
                found.setdefault((notebook.notebook, cell.cell), cell.max_points)
    for grades in book.grades.values():
        for key, grade in grades.items():
            found.setdefault(key, grade.max_score)
    exercises = [GradedExercise(*key, book.max_points.get(key, most)) for key, most in found.items()]
    return sorted(exercises, key=lambda exercise: exercise.notebook)


def _results(said: SubmissionVerdict | None, grades: Mapping[Key, Grade]) -> dict[Key, ExerciseResult]:
    cells: dict[Key, CellVerdict] = {}
    if said is not None:
        cells = {(one.notebook, cell.cell): cell for one in said.notebooks for cell in one.cells}
    empty = all(grade.auto_score is None and grade.manual_score is None for grade in grades.values())
    never = said is None and empty  # as nbgrader leaves it before it runs anything
    return {key: result_of(cells.get(key), grades.get(key), never) for key in {**cells, **grades}}


def _comments(book: Book, student: str) -> dict[Key, str]:
    """What people wrote, without what they wrote about an earlier answer."""
    grades = book.grades.get(student, {})
    unsure = {key for key, grade in grades.items() if grade.needs_manual_grade and grade.manual_score is not None}
    return {key: text for key, text in book.comments.get(student, {}).items() if key not in unsure}

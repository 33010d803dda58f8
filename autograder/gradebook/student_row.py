"""One student's row of the results, from what was read of the student and what counts for everybody alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from autograder.gradebook.late.policy import Lateness, LatePolicy, decide_term
from autograder.gradebook.late.written import is_ours
from autograder.gradebook.read import Book, Grade, Key, Student
from autograder.gradebook.regradings import Regrading
from autograder.gradebook.results import NOT_GRADED, ExerciseResult, GradedExercise, StudentResult, result_of, waived
from autograder.gradebook.waivers import Waiver
from autograder.model.verdict import CellVerdict, SubmissionVerdict


@dataclass(frozen=True)
class Known:
    """What counts for everybody alike.

    ``together``: member of a group to the one who handed in. ``withdrawn``: student to a penalty of ours that a policy
    put into the gradebook which is no more. ``again``: what was graded again, by who handed it in.
    """

    assignment: str
    together: Mapping[str, str]
    policy: LatePolicy | None
    times: Mapping[str, Mapping[str, datetime]]
    withdrawn: Mapping[str, float]
    exercises: Sequence[GradedExercise]
    waivers: Mapping[Key, Waiver]
    again: Mapping[str, tuple[Regrading, ...]]

    @property
    def speaks(self) -> bool:
        """Whether the late policy says something about this assignment."""
        return self.policy is not None and self.assignment in self.policy.assignments


@dataclass(frozen=True)
class ReadStudents:
    """What was read of some students, or of all. ``there``: who of them handed in, or has a verdict."""

    said: Mapping[str, SubmissionVerdict]
    book: Book
    there: Collection[str]


def row_for(student: str, known: Known, part: ReadStudents) -> StudentResult:
    """The student's row, and the group's where another member handed in."""
    by = known.together.get(student, student)  # who handed in
    book = part.book
    results = _results(part.said.get(by), book.grades.get(by, {}))
    if not results and by in part.there:
        results = {one.key: ExerciseResult(NOT_GRADED, None, one.max_points) for one in known.exercises}
    waivers = known.waivers
    return StudentResult(
        book.students.get(student, Student(student)),
        {one.key: _counted(results[one.key], waivers.get(one.key)) for one in known.exercises if one.key in results},
        _comments(book, by),
        known.times[known.assignment].get(student),
        _lateness(known, student) if results else None,
        0.0 if is_ours(penalty := book.penalties.get(by, 0.0), known.withdrawn.get(by)) else penalty,
        _of(student, part.said.get(by)),
        known.again.get(by, ()),
        "" if by == student else by,
    )


def _counted(result: ExerciseResult, waiver: Waiver | None) -> ExerciseResult:
    return result if waiver is None else waived(result, waiver)


def _of(student: str, verdict: SubmissionVerdict | None) -> SubmissionVerdict | None:
    """The verdict as this member of the group reads it."""
    if verdict is None or verdict.student == student:
        return verdict
    books = tuple(replace(one, student=student) for one in verdict.notebooks)
    return replace(verdict, student=student, notebooks=books)


def _lateness(known: Known, student: str) -> Lateness | None:
    if known.policy is None or not known.speaks:
        return None
    return decide_term(known.policy, known.assignment, student, known.times)


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

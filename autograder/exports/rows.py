"""What every export is made from: per student and exercise the points that count, and what being late costs.

A number is written only where somebody or something has decided it. What waits, for a person or for the grader itself,
is None, and so is every sum with it: an export shows an empty cell, never a 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from nbgrader.api import Gradebook

from autograder import verdict as verdicts
from autograder.assignment import Course
from autograder.errors import NothingToGrade
from autograder.exports.book import Book, Grade, Key, Student, open_book, read_book
from autograder.late import Lateness, LatePolicy, decide_term
from autograder.late_file import read_policy
from autograder.times import read_times
from autograder.verdict import CellVerdict, SubmissionVerdict
from autograder.written_penalties import is_ours, read_written

#: ``waiting``: a person must read something; ``infrastructure``: the grader failed, or has not graded it yet.
State = Literal["graded", "waiting", "infrastructure", "refused", "nothing handed in"]

NOT_GRADED = "infrastructure"


@dataclass(frozen=True)
class Exercise:
    """A graded cell: one column of the table."""

    notebook: str
    cell: str
    max_points: float

    @property
    def key(self) -> Key:
        return self.notebook, self.cell


@dataclass(frozen=True)
class Mark:
    """One student's result in one exercise; ``points`` is None where nobody has decided yet."""

    status: str
    points: float | None


@dataclass(frozen=True)
class Row:
    """One student. ``penalty``: what the gradebook holds as late penalty; it counts only where no policy speaks."""

    student: Student
    marks: Mapping[Key, Mark] = field(default_factory=dict)
    comments: Mapping[Key, str] = field(default_factory=dict)
    submitted_at: datetime | None = None
    lateness: Lateness | None = None
    penalty: float = 0.0

    @property
    def waiting(self) -> list[Key]:
        return [key for key, mark in self.marks.items() if mark.points is None]

    @property
    def state(self) -> State:
        if not self.marks:
            return "nothing handed in"
        if any(self.marks[key].status == NOT_GRADED for key in self.waiting):
            return "infrastructure"
        if self.lateness is not None and self.lateness.refused:
            return "refused"
        return "waiting" if self.waiting else "graded"

    @property
    def points(self) -> float | None:
        """Before the deduction; None while an exercise waits."""
        if not self.marks or self.waiting:
            return None
        return sum(mark.points or 0.0 for mark in self.marks.values())

    @property
    def deduction(self) -> float | None:
        """Points off for being late, from one source alone: the policy, or else the gradebook."""
        if self.points is None or self.state == "refused":
            return None
        if self.lateness is not None:
            return self.lateness.deduction(self.points)
        return max(0.0, min(self.points, self.penalty))

    @property
    def score(self) -> float | None:
        """What counts. None while an exercise waits, and for a refused submission."""
        return None if self.points is None or self.deduction is None else self.points - self.deduction


@dataclass(frozen=True)
class Table:
    """A class. ``deadline``: whether the late policy speaks about this assignment."""

    assignment: str
    exercises: tuple[Exercise, ...]
    rows: tuple[Row, ...]
    deadline: bool = False

    @property
    def max_points(self) -> float:
        """Of a whole submission: an exercise that was renamed since some were graded does not count twice."""
        worth = {exercise.key: exercise.max_points for exercise in self.exercises}
        return max((sum(worth[key] for key in row.marks) for row in self.rows), default=0.0)


def gather(course: Course, assignment: str) -> Table:
    """The class's results. Raises NothingToGrade where nothing is graded, GradingError for a wrong late policy."""
    with open_book(course.db_url) or nullcontext() as gradebook:
        table = gather_from(course, assignment, gradebook)
    if not any(row.state in ("graded", "waiting", "infrastructure", "refused") for row in table.rows):
        raise NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")
    return table


def gather_from(
    course: Course, assignment: str, gradebook: Gradebook | None, students: Collection[str] | None = None
) -> Table:
    """As :func:`gather`, from an open gradebook; ``students``: these alone. A table may be empty."""
    book = read_book(gradebook, assignment)
    said = _read_verdicts(course, assignment)
    handed_in = set(course.everybody_submitted(assignment))
    everybody = {*book.students, *book.grades, *said, *handed_in}
    policy = policy_of(course, everybody)
    times = {name: read_times(course.root, name) for name in {assignment, *(policy.assignments if policy else ())}}
    exercises = _exercises(said, book)
    speaks = bool(policy and assignment in policy.assignments)
    withdrawn = {} if speaks else read_written(course.root, assignment)  # by a policy that is no more
    rows = []
    for student in sorted(everybody if students is None else everybody & set(students)):
        marks = _marks(said.get(student), book.grades.get(student, {}))
        if not marks and student in handed_in | said.keys():
            marks = {exercise.key: Mark(NOT_GRADED, None) for exercise in exercises}
        rows.append(
            Row(
                book.students.get(student, Student(student)),
                {exercise.key: marks[exercise.key] for exercise in exercises if exercise.key in marks},
                book.comments.get(student, {}),
                times[assignment].get(student),
                _lateness(policy, assignment, student, times) if marks else None,
                0.0 if is_ours(penalty := book.penalties.get(student, 0.0), withdrawn.get(student)) else penalty,
            )
        )
    return Table(assignment, tuple(exercises), tuple(rows), speaks)


def policy_of(course: Course, students: Collection[str]) -> LatePolicy | None:
    """The course's late policy, checked against the assignments and students that exist."""
    return read_policy(course.root, course.assignments() or None, {*students, *course.everybody_submitted()})


def _lateness(
    policy: LatePolicy | None, assignment: str, student: str, times: Mapping[str, Mapping[str, datetime]]
) -> Lateness | None:
    if policy is None or assignment not in policy.assignments:
        return None
    return decide_term(policy, assignment, student, times)


def _read_verdicts(course: Course, assignment: str) -> dict[str, SubmissionVerdict | None]:
    """Student to verdict; None where there is one that cannot be read, which is the grader's failure."""
    found: dict[str, SubmissionVerdict | None] = {}
    for student in course.everybody_autograded(assignment):
        try:
            found[student] = verdicts.read(course.autograded(student, assignment) / "verdicts.json")
        except (OSError, ValueError, KeyError, TypeError):
            found[student] = None
    return found


def _exercises(said: Mapping[str, SubmissionVerdict | None], book: Book) -> list[Exercise]:
    """Every exercise that anybody has a result in, in the order of the notebooks and of the cells in them."""
    found: dict[Key, Exercise] = {}
    for verdict in filter(None, said.values()):
        for notebook in verdict.notebooks:
            for cell in notebook.cells:
                found.setdefault(
                    (notebook.notebook, cell.cell), Exercise(notebook.notebook, cell.cell, cell.max_points)
                )
    for grades in book.grades.values():
        for (notebook_name, name), grade in grades.items():
            found.setdefault((notebook_name, name), Exercise(notebook_name, name, grade.max_points))
    return sorted(found.values(), key=lambda exercise: exercise.notebook)


def _marks(said: SubmissionVerdict | None, grades: Mapping[Key, Grade]) -> dict[Key, Mark]:
    """The gradebook's points where it has them: people mark there. The status is the judge's."""
    cells: dict[Key, CellVerdict] = {}
    if said is not None:
        cells = {(one.notebook, cell.cell): cell for one in said.notebooks for cell in one.cells}
    # without a verdict: a submission of which nothing has points was never graded, else the rest waits for a person
    unsaid = "manual" if said is None and any(grade.points is not None for grade in grades.values()) else NOT_GRADED
    return {key: _mark(cells.get(key), grades.get(key), unsaid) for key in {**cells, **grades}}


def _mark(cell: CellVerdict | None, grade: Grade | None, unsaid: str) -> Mark:
    if cell is None:
        points = grade.points if grade is not None else None
        return Mark(unsaid if points is None else "graded", points)
    if grade is None or (cell.status == NOT_GRADED and not grade.by_hand):
        return Mark(cell.status, cell.points)
    return Mark(cell.status, grade.points)

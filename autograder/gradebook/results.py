"""Results: for every student and exercise the points that count, and who decided them.

Everything that shows points takes them from here: the table of ``autograder grade``, feedback, report, every export,
CI, late penalties and ``nbgrader export``. :func:`result_of` is the rule for one exercise:

1. A manual grade beats the grader's points, and extra credit is added to points that are decided.
2. What nobody has decided has no points (None, never 0): an answer that a person has yet to read, also where it has
   extra credit already; a manual grade that was given for another text (nbgrader's ``needs_manual_grade``); an exercise
   on which the grader failed, until a person decides or it is graded again.
3. A sum with None in it is None. ``points_so_far`` is what is decided of it, and is always shown as such.
4. The deduction for being late is taken off a sum that is decided.
5. Points of two versions of an assignment are never put side by side: :func:`check_one_version`.
6. A waived exercise (``waivers.toml``) counts in full for everybody who handed in, or for nobody: :func:`waived`.

Results come from the gradebook, where people grade, and from ``verdicts.json``, which says more than it and is enough
where there is no gradebook.

What only a whole class shows about a graded cell, that its test may be wrong, :func:`hints_of` tells.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, cast

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment, trusted
from autograder.errors import GradingError
from autograder.gradebook.graded_answers import read_record
from autograder.gradebook.late.policy import Lateness
from autograder.gradebook.read import Grade, Key, Student
from autograder.gradebook.regradings import Regrading
from autograder.gradebook.waivers import Waiver
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.verdict import (
    FOR_A_PERSON,
    CellVerdict,
    Digests,
    NotebookVerdict,
    Status,
    SubmissionVerdict,
    answer_digests,
    total,
)

#: ``waiting``: a person must read something; ``infrastructure``: the grader failed, or has not graded it yet.
State = Literal["graded", "waiting", "infrastructure", "refused", "nothing handed in"]

NOT_GRADED = "infrastructure"


@dataclass(frozen=True)
class GradedExercise:
    """A graded cell: one column of the table."""

    notebook: str
    cell: str
    max_points: float

    @property
    def key(self) -> Key:
        return self.notebook, self.cell


@dataclass(frozen=True)
class ExerciseResult:
    """One student's result in one exercise.

    ``points`` is None where nobody has decided yet; ``status`` then says who must: a person (``manual``, or
    ``ungradable`` where no grader could judge what was handed in) or the grader (``infrastructure``).
    Else it is the grader's own word, whoever gave the points. ``extra_credit`` is part of ``points``.
    ``graded_before``: a person gave points for an answer that has changed since.
    ``waiver``: why the exercise counts otherwise than it was graded; empty for most.
    ``offered``: the points of a plain test that wait for a person's word; ``refused``: why, or what was refused where
    none of the student's code runs.
    """

    status: str
    points: float | None
    max_points: float
    decided_by: Literal["grader", "person", "waiver"] | None = None
    extra_credit: float = 0.0
    graded_before: bool = False
    waiver: str = ""
    offered: float | None = None
    refused: str = ""


def result_of(cell: CellVerdict | None, grade: Grade | None = None, never_graded: bool = False) -> ExerciseResult:
    """The result of one exercise, from the grader's verdict on it and its row in the gradebook, where there are such.

    never_graded: of a submission without a verdict, that its grades hold nothing at all.
    """
    found = _decided(cell, grade, never_graded)
    if cell is None or found.decided_by in ("person", "waiver"):
        return found
    return replace(found, offered=cell.offered if found.points is None else None, refused=cell.refused)


def _decided(cell: CellVerdict | None, grade: Grade | None, never_graded: bool) -> ExerciseResult:
    most = cell.max_points if cell is not None else grade.max_score if grade is not None else 0.0
    status = str(cell.status) if cell is not None else "graded"
    if grade is not None and grade.manual_score is not None and not grade.needs_manual_grade:
        extra = grade.extra_credit
        return ExerciseResult(status, total((grade.manual_score, extra)), most, "person", extra)
    if status == NOT_GRADED or never_graded:
        return ExerciseResult(NOT_GRADED, None, most)
    if grade is None:
        points = cell.points if cell is not None else None
        return ExerciseResult(status, points, most, None if points is None else "grader")
    if grade.auto_score is None and cell is not None and cell.points is not None:
        return ExerciseResult(NOT_GRADED, None, most)  # this gradebook has never heard of the verdict
    if grade.auto_score is None or grade.needs_manual_grade:
        return ExerciseResult(
            status if status in FOR_A_PERSON else "manual", None, most, graded_before=grade.manual_score is not None
        )
    points = total((grade.auto_score, grade.extra_credit))
    return ExerciseResult(status, points, most, "grader", grade.extra_credit)


def waived(result: ExerciseResult, waiver: Waiver | None) -> ExerciseResult:
    """The result as the waiver has it. Nobody loses points by a waiver in full, extra credit included."""
    if waiver is None:
        return result
    status = "graded" if result.points is None else result.status
    if waiver.counts == "drop":
        return ExerciseResult(status, 0.0, 0.0, "waiver", waiver=waiver.text)
    points = max(result.points or 0.0, result.max_points)
    return replace(result, status=status, points=points, decided_by="waiver", waiver=waiver.text, offered=None)


@dataclass(frozen=True)
class StudentResult:
    """One student. ``penalty``: what the gradebook holds as late penalty; it counts only where no policy speaks.

    ``verdict``: as the grader wrote it; None where there is none that can be read.
    ``regradings``: how often and why the submission was graded again by ``autograder regrade``.
    ``submitted_by``: the member of the group who handed in, where that was another.
    """

    student: Student
    exercises: Mapping[Key, ExerciseResult] = field(default_factory=dict)
    comments: Mapping[Key, str] = field(default_factory=dict)
    submitted_at: datetime | None = None
    lateness: Lateness | None = None
    penalty: float = 0.0
    verdict: SubmissionVerdict | None = None
    regradings: tuple[Regrading, ...] = ()
    submitted_by: str = ""

    @property
    def waiting(self) -> list[Key]:
        return [key for key, result in self.exercises.items() if result.points is None]

    @property
    def state(self) -> State:
        if not self.exercises:
            return "nothing handed in"
        if any(self.exercises[key].status == NOT_GRADED for key in self.waiting):
            return "infrastructure"
        if self.lateness is not None and self.lateness.refused:
            return "refused"
        return "waiting" if self.waiting else "graded"

    @property
    def points(self) -> float | None:
        """Before the deduction; None while an exercise waits."""
        return None if not self.exercises or self.waiting else self.points_so_far

    @property
    def points_so_far(self) -> float:
        """Of the exercises that are decided."""
        return total(result.points or 0.0 for result in self.exercises.values())

    @property
    def max_points(self) -> float:
        return total(result.max_points for result in self.exercises.values())

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
        return None if self.points is None or self.deduction is None else total((self.points, -self.deduction))

    def notebook(self, name: str) -> "StudentResult":
        """The exercises of one notebook alone. Being late is a matter of the whole submission, and left out."""
        own = {key: result for key, result in self.exercises.items() if key[0] == name}
        comments = {key: text for key, text in self.comments.items() if key[0] == name}
        return StudentResult(self.student, own, comments, self.submitted_at, verdict=self.verdict)


def with_results(verdict: SubmissionVerdict, exercises: Mapping[Key, ExerciseResult]) -> SubmissionVerdict:
    """The verdict with the points that count in the place of the grader's, for whoever reads its checks too."""
    return replace(verdict, notebooks=tuple(_with_results(notebook, exercises) for notebook in verdict.notebooks))


def _with_results(notebook: NotebookVerdict, exercises: Mapping[Key, ExerciseResult]) -> NotebookVerdict:
    cells = []
    for cell in notebook.cells:
        found = exercises.get((notebook.notebook, cell.cell)) or result_of(cell)
        status = cast(Status, found.status) if found.points is None else cell.status
        cells.append(replace(cell, points=found.points, max_points=found.max_points, status=status))
    return replace(notebook, cells=tuple(cells))


@dataclass(frozen=True)
class ResultsTable:
    """A class. ``deadline``: whether the late policy speaks about this assignment.

    ``unreadable``: student to the reason why their verdict cannot be read.
    ``released``: the exercises and points of the assignment's last release; empty where no gradebook knows them.
    ``waivers``: of exercises of this assignment.
    """

    assignment: str
    exercises: tuple[GradedExercise, ...]
    rows: tuple[StudentResult, ...]
    deadline: bool = False
    unreadable: Mapping[str, str] = field(default_factory=dict)
    released: Mapping[Key, float] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()

    @property
    def max_points(self) -> float:
        """Of a whole submission."""
        return max((row.max_points for row in self.rows), default=0.0)


def check_one_version(table: ResultsTable) -> None:
    """Raises GradingError where some were graded with other exercises or points than the assignment has now."""
    versions: dict[str, Mapping[Key, float]] = {}
    for row in table.rows:
        if row.verdict is not None:
            cells = [(book.notebook, cell) for book in row.verdict.notebooks for cell in book.cells]
            versions[row.student.id] = {(name, cell.cell): cell.max_points for name, cell in cells}
    expected = table.released or next(iter(versions.values()), {})
    old = [student for student, version in versions.items() if version != expected]
    if not old:
        return
    theirs = versions[old[0]]
    name = next(key for key in {**expected, **theirs} if expected.get(key) != theirs.get(key))
    now, then = expected.get(name), theirs.get(name)
    if now is None or then is None:
        what = f"{name[1]} of {name[0]} is {'gone' if now is None else 'new'} since {named(old)}"
    else:
        what = f"{name[1]} of {name[0]} has {now:g} points, and had {then:g} when {named(old)}"
    raise GradingError(
        f"the points of {table.assignment} have changed: {what} {'was' if len(old) == 1 else 'were'} graded; "
        f"results of two versions are not mixed: run 'autograder grade {table.assignment}', then this again. "
        "Who has no submission any more is not graded again: put it back, or 'autograder student erase' takes them out"
    )


def counted(students: Sequence[str]) -> str:
    """``3 students (ada, bob, eve)``."""
    return f"{len(students)} student{'' if len(students) == 1 else 's'} ({named(students)})"


def named(students: Sequence[str], show: int = 10) -> str:
    """``ada, bob and 3 more``."""
    shown = ", ".join(students[:show])
    return f"{shown} and {len(students) - show} more" if len(students) > show else shown


#: Of fewer who answered it says little that all are wrong.
FEW = 3


@dataclass(frozen=True)
class CellHint:
    """``nobody`` of the ``of`` students who answered has points, or ``students`` who changed nothing have some."""

    kind: Literal["nobody", "untouched"]
    notebook: str
    cell: str
    students: int
    of: int

    def __str__(self) -> str:
        where = f"{self.cell} ({self.notebook})"
        if self.kind == "nobody":
            return f"{where}: 0 of {self.of} students who answered have points: is its test right?"
        have = "1 student has" if self.students == 1 else f"{self.students} students have"
        return f"{where}: {have} points without having changed anything: does its test look at the answer?"


@dataclass
class _Tally:
    """Of one autograded cell. ``answers``: the answer cells that belong to it, with the digests of their stubs.

    untouched: digests of all code up to the cell where a student has changed none of it.
    """

    answers: Digests
    untouched: frozenset[str]
    answered: int = 0
    with_points: int = 0
    unchanged_with_points: int = 0

    def add(self, cell: str, result: ExerciseResult, digests: Digests) -> None:
        earned = bool(result.points)
        if digests.get(cell) in self.untouched:
            self.unchanged_with_points += earned
        elif not self.answers or any(digests.get(name) != stub for name, stub in self.answers.items()):
            self.answered += 1
            self.with_points += earned


def hints_of(course: Course, assignment: Assignment, rows: Iterable[StudentResult]) -> list[CellHint]:
    """What the rows of a class show, of cells with points that the grader judges; each group is counted once."""
    tallies = {
        (name, cell): tally
        for name, source in assignment.source.items()
        for cell, tally in _tallies(source, assignment, name)
    }
    for row in rows:
        if row.verdict is None or row.submitted_by:
            continue
        record = read_record(course.root, assignment.name, row.student.id)
        for (name, cell), result in row.exercises.items():
            tally = tallies.get((name, cell))
            if tally and name in record and result.decided_by == "grader" and result.status != "missing":
                tally.add(cell, result, record[name].answers)
    return [hint for key, tally in tallies.items() for hint in _hints(key, tally)]


def _hints(key: Key, tally: _Tally) -> Iterator[CellHint]:
    if tally.answered >= FEW and not tally.with_points:
        yield CellHint("nobody", *key, 0, tally.answered)
    if tally.unchanged_with_points:
        yield CellHint("untouched", *key, tally.unchanged_with_points, tally.unchanged_with_points)


def _tallies(source: NotebookNode, assignment: Assignment, name: str) -> Iterator[tuple[str, _Tally]]:
    """(cell, its tally); to a cell belong the answers between it and the graded cell before, or that one's."""
    blank = trusted(source, assignment.release[name])
    stubs = {file: data for file, data in assignment.files.items() if file in assignment.deliverables}
    without, with_stubs = answer_digests(blank, {}), answer_digests(blank, stubs)
    answers: dict[str, str] = {}
    ended = False
    for cell in blank.cells:
        grade_id = cells.grade_id(cell) or ""
        if cell.cell_type == "code" and cells.is_solution(cell) and not cells.is_graded(cell):
            answers = {} if ended else answers
            answers[grade_id] = without[grade_id]
            ended = False
        elif cells.is_autograded(cell):
            ended = True
            if cells.max_points(cell):
                yield grade_id, _Tally(dict(answers), frozenset({without[grade_id], with_stubs[grade_id]}))

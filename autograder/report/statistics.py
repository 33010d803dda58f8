"""Numbers about a class: difficulty, discrimination, mistakes, time, damage, what waits for a human."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from autograder.errors import NothingToGrade
from autograder.gradebook.gather import gather_from
from autograder.gradebook.read import open_book
from autograder.gradebook.results import NOT_GRADED, ResultsTable, StudentResult, check_one_version, with_results
from autograder.model.course import Course
from autograder.model.verdict import FOR_A_PERSON, SubmissionVerdict
from autograder.report.picture import exercises, shares_of

#: So many students are named of those whose notebooks took longest.
_SLOWEST = 5
#: Below so many students a correlation says nothing.
FEW = 10


@dataclass(frozen=True)
class ExerciseStatistics:
    """One graded cell over the class.

    difficulty: mean share of the points, 1 for an exercise that everybody solved; None where nothing is decided.
    discrimination: point-biserial correlation of the share with the points of all other exercises; None where it
    has no meaning (few students, or all of them alike).
    """

    notebook: str
    cell: str
    max_points: float
    students: int
    full: int
    none: int
    waiting: int
    difficulty: float | None
    discrimination: float | None
    seconds: float


@dataclass(frozen=True)
class MistakeCount:
    """One mistake, wherever it was made. ``mistake`` is empty where the catalogue has no name for it.

    cells: (exercise, how many made it there).
    """

    mistake: str
    message: str
    students: tuple[str, ...]
    cells: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Times:
    """Seconds of grading: per submission, and the slowest of them."""

    total: float
    median: float
    longest: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Waiting:
    """Something that a person must do.

    ``why`` is ``written``, ``offered`` (a plain test holds for other values than the solution's, ``about`` says which),
    ``changed`` (graded by hand, and the answer is another one now) or ``infrastructure``.
    """

    why: str
    notebook: str
    cell: str
    about: str
    students: tuple[str, ...]


def in_kernel(verdicts: Iterable[SubmissionVerdict]) -> list[tuple[str, str, float]]:
    """(notebook, exercise, points) of what was judged in the students' own kernels, as nbgrader does."""
    found: dict[tuple[str, str], float] = {}
    for verdict in verdicts:
        for notebook in verdict.notebooks:
            for cell in notebook.cells:
                if cell.judged == "kernel" and cell.max_points:
                    found[notebook.notebook, cell.cell] = cell.max_points
    return [(*place, points) for place, points in found.items()]


def exercise_statistics(verdicts: Sequence[SubmissionVerdict]) -> list[ExerciseStatistics]:
    columns = exercises(verdicts)
    shares, waiting = shares_of(verdicts, columns)
    most, seconds = _largest_and_slowest(verdicts)
    points = np.nan_to_num(shares) * np.array([most[column] for column in columns])  # (students, exercises)
    found = []
    for index, (notebook, cell) in enumerate(columns):
        share, others = shares[:, index], points.sum(1) - points[:, index]
        decided = ~np.isnan(share)
        found.append(
            ExerciseStatistics(
                notebook,
                cell,
                most[notebook, cell],
                int(decided.sum()),
                int((share[decided] >= 1).sum()),
                int((share[decided] <= 0).sum()),
                int(waiting[:, index].sum()),
                float(share[decided].mean()) if decided.any() else None,
                correlation(share[decided], others[decided]),
                float(np.median(seconds[notebook, cell])),
            )
        )
    return found


def _largest_and_slowest(
    verdicts: Sequence[SubmissionVerdict],
) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], list[float]]]:
    most: dict[tuple[str, str], float] = defaultdict(float)
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for verdict in verdicts:
        for notebook in verdict.notebooks:
            for cell in notebook.cells:
                place = (notebook.notebook, cell.cell)
                most[place] = max(most[place], cell.max_points)
                seconds[place].append(cell.seconds)
    return most, seconds


def correlation(first: np.ndarray, second: np.ndarray) -> float | None:
    """Pearson's r, which is the point-biserial one where ``first`` is 0 or 1."""
    if len(first) < FEW or np.ptp(first) < 1e-9 or np.ptp(second) < 1e-9:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def mistake_counts(verdicts: Iterable[SubmissionVerdict]) -> list[MistakeCount]:
    """Every failed check, named mistakes by their id, others by their words; the most frequent first."""
    made: dict[tuple[str, str], dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    messages: dict[tuple[str, str], str] = {}
    for verdict in verdicts:
        for notebook in verdict.notebooks:
            for cell in notebook.cells:
                for check in cell.checks:
                    if check.passed or not cell.max_points or cell.status in (*FOR_A_PERSON, "infrastructure"):
                        continue
                    message = check.message or check.name
                    key = (check.mistake, "" if check.mistake else _kind(message))
                    messages.setdefault(key, message)
                    made[key][cell.cell][verdict.student] = None
    found = []
    for key, by_cell in made.items():
        students = tuple(sorted({student for own in by_cell.values() for student in own}))
        found.append(
            MistakeCount(key[0], messages[key], students, tuple((cell, len(own)) for cell, own in by_cell.items()))
        )
    return sorted(found, key=lambda one: (-len(one.students), one.mistake, one.message))


def _kind(text: str) -> str:
    """The text without what differs from student to student: numbers and what stands in quotes."""
    return re.sub(r"(?<![\w.])\d+(\.\d+)?(?!\w)", "#", re.sub(r"'[^']*'", "'…'", text))


def times(verdicts: Sequence[SubmissionVerdict]) -> Times:
    spent = {verdict.student: sum(notebook.seconds for notebook in verdict.notebooks) for verdict in verdicts}
    longest = sorted(spent.items(), key=lambda item: -item[1])[:_SLOWEST]
    return Times(sum(spent.values()), float(np.median(list(spent.values()))), tuple(longest))


def repairs(verdicts: Iterable[SubmissionVerdict]) -> list[tuple[str, str, tuple[str, ...]]]:
    """(student, notebook, notes) of every notebook in which something was put right."""
    return [
        (verdict.student, notebook.notebook, notebook.notes)
        for verdict in verdicts
        for notebook in verdict.notebooks
        if notebook.notes
    ]


def repair_kinds(verdicts: Iterable[SubmissionVerdict]) -> list[tuple[str, int]]:
    """(what was put right, in how many notebooks), the most frequent first."""
    counts: dict[str, int] = defaultdict(int)
    for _, _, notes in repairs(verdicts):
        for kind in {_kind(note) for note in notes}:
            counts[kind] += 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def waiting_for_people(rows: Iterable[StudentResult]) -> list[Waiting]:
    """What nobody has decided: exercises on which the grader itself failed come first."""
    found: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for row in rows:
        for notebook, cell in row.waiting:
            result = row.exercises[notebook, cell]
            why = "changed" if result.graded_before else "written" if result.offered is None else "offered"
            why = result.status if result.status in (NOT_GRADED, "ungradable") else why
            found[why, notebook, cell, result.refused].append(row.student.id)
    order = ("infrastructure", "ungradable", "changed", "written", "offered")
    ordered = sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0]))
    return [Waiting(*key, tuple(students)) for key, students in ordered]


@dataclass(frozen=True)
class Results:
    """``unreadable`` names those whose verdict could not be read, and why."""

    table: ResultsTable

    @property
    def assignment(self) -> str:
        return self.table.assignment

    @property
    def max_points(self) -> float:
        return self.table.max_points

    @property
    def unreadable(self) -> Mapping[str, str]:
        return self.table.unreadable

    @property
    def ungraded(self) -> list[str]:
        """Who handed in and has no verdict at all."""
        rows = [row.student.id for row in self.table.rows if row.exercises and not (row.verdict or row.submitted_by)]
        return [student for student in rows if student not in self.unreadable]

    @cached_property
    def rows(self) -> tuple[StudentResult, ...]:
        """Those with a verdict, in order of students; of a group the one who handed in."""
        return tuple(row for row in self.table.rows if row.verdict is not None and not row.submitted_by)

    @cached_property
    def verdicts(self) -> tuple[SubmissionVerdict, ...]:
        """One for each of ``rows``."""
        return tuple(with_results(row.verdict, row.exercises) for row in self.rows if row.verdict is not None)


def read_results(course: Course, assignment: str) -> Results:
    """Every verdict of an assignment. Raises NothingToGrade where no verdict can be read, GradingError where some
    were graded with other points than the assignment has now."""
    with open_book(course.db_url) or nullcontext() as gradebook:
        found = Results(gather_from(course, assignment, gradebook))
    if not found.rows:
        raise NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")
    check_one_version(found.table)
    return found

"""The rows of the table that ``autograder grade`` prints: from a verdict, and from the results that count."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar

from autograder.assignment.submission import NOT_HANDED_IN
from autograder.exports.sheet import number
from autograder.gradebook.gather import gather_in_parts
from autograder.gradebook.marks import Offered, offered
from autograder.gradebook.read import open_book
from autograder.gradebook.results import StudentResult
from autograder.model.course import Course
from autograder.model.verdict import FOR_A_PERSON, SubmissionVerdict, total

Points = TypeVar("Points", float, float | None)


@dataclass(frozen=True, slots=True)  # a large class has many
class Row:
    """One line of the table: what became of one student's submission.

    ``points``: notebook to points, None while one of its exercises waits; ``so_far``: of what is decided there.
    """

    student: str
    points: dict[str, float | None]
    max_points: dict[str, float]
    failed: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    skipped: bool = False
    kept_manual: int = 0
    missing: tuple[str, ...] = ()  # notebooks that were not handed in
    again: str = ""  # why it was graded again
    judged: bool = False  # again, by what an earlier run produced
    rewritten: bool = False  # graded before, but the gradebook did not hold it
    so_far: dict[str, float] = field(default_factory=dict)
    late: str = ""  # what being late costs, where it does
    ungradable: tuple[str, ...] = ()  # notebooks that nobody could judge, and no person has yet
    offered: tuple[Offered, ...] = ()  # tests that wait for a person's word
    too_long: tuple[str, ...] = ()  # exercises that came to no end in time

    @property
    def total(self) -> float:
        """Of the exercises that are decided."""
        return total(self.so_far.values())

    @property
    def most(self) -> float:
        return total(self.max_points.values())

    @property
    def is_graded(self) -> bool:
        """Whether any of its notebooks could be judged."""
        return bool(self.points) and not self.failure and len(self.ungradable) < len(self.points)


def row_of(verdict: SubmissionVerdict, *, kept_manual: int = 0, skipped: bool = False) -> Row:
    """What the grader says. What counts is put in by :func:`with_result`."""
    cells = [cell for notebook in verdict.notebooks for cell in notebook.cells]
    broken = [notebook.notebook for notebook in verdict.notebooks if notebook.status == "infrastructure"]
    missing = [
        notebook.notebook
        for notebook in verdict.notebooks
        if not notebook.seconds and all(cell.status == "missing" for cell in notebook.cells)  # nothing was there to run
    ]
    books = verdict.notebooks
    ungradable = tuple(one.notebook for one in books if any(cell.status == "ungradable" for cell in one.cells))
    return Row(
        verdict.student,
        _shared((one.notebook, None if one.notebook in (*broken, *ungradable) else one.points) for one in books),
        _shared((one.notebook, one.max_points) for one in books),
        tuple(
            cell.cell
            for cell in cells
            if cell.status in ("failed", "crashed", "timeout", "partial") and cell.max_points  # else nothing was lost
        ),
        tuple(cell.cell for cell in cells if cell.status in FOR_A_PERSON),
        tuple(  # what was not handed in, the row lists
            note for one in verdict.notebooks for note in one.notes if note != f"{one.notebook}.ipynb{NOT_HANDED_IN}."
        ),
        f"the grader failed on {', '.join(broken)}; grade once more, without --force" if broken else "",
        skipped,
        kept_manual,
        tuple(missing),
        so_far=_shared((one.notebook, one.points) for one in books),
        ungradable=ungradable,
        too_long=tuple(cell.cell for cell in cells if cell.status == "timeout"),
    )


def with_result(row: Row, result: StudentResult | None) -> Row:
    """The row with the points that count in the place of the grader's; people may have given others."""
    if result is None or not row.points:
        return row
    books = {name: result.notebook(name) for name in row.points}
    by_hand = {cell for (_, cell), one in result.exercises.items() if one.decided_by == "person"}
    return replace(
        row,
        points=_shared((name, book.points if book.exercises else 0.0) for name, book in books.items()),
        so_far=_shared((name, book.points_so_far) for name, book in books.items()),
        max_points=_shared((name, book.max_points) for name, book in books.items()),
        failed=tuple(cell for cell in row.failed if cell not in by_hand),
        waiting=tuple(key[1] for key in result.waiting if result.exercises[key].status in FOR_A_PERSON),
        ungradable=tuple(name for name in row.ungradable if books[name].waiting),
        late=_late(result),
        offered=tuple(offered([result])),
    )


def _late(result: StudentResult) -> str:
    if result.lateness is None or not (result.deduction or result.state == "refused"):
        return ""
    if result.state == "refused" or result.score is None:
        return result.lateness.reason
    return f"{result.lateness.reason}, {number(result.deduction or 0.0, 2)} off, {number(result.score, 2)} count"


def _shared(points: Iterable[tuple[str, Points]]) -> dict[str, Points]:
    """As a dictionary, the same one for rows that say the same: three of its own would be most of a row's memory."""
    said = dict(points)
    kinds = tuple(type(value) for value in said.values())  # 2 and 2.0 are equal, and written differently
    return _kept(tuple(said.items()), kinds)


@lru_cache(maxsize=256)
def _kept(points: tuple[tuple[str, Any], ...], kinds: tuple[type, ...]) -> dict[str, Any]:
    return dict(points)


def put_in_results(course: Course, assignment: str, students: list[str], rows: dict[str, Row]) -> None:
    """Put what counts for each of these students into their row, in place of the grader's points."""
    with open_book(course.db_url) or nullcontext() as book:
        for result in gather_in_parts(course, assignment, book, students):
            student = result.student.id
            rows[student] = with_result(rows[student], result)

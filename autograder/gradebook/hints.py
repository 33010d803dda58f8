"""What only a whole class shows about a graded cell: that its test may be wrong."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment, trusted
from autograder.gradebook.graded_answers import read_record
from autograder.gradebook.read import Key
from autograder.gradebook.results import ExerciseResult, StudentResult
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.verdict import Digests, answer_digests

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

"""A class's verdicts, with the points that people gave by hand put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autograder import verdict as verdicts
from autograder.assignment import Course
from autograder.errors import NothingToGrade
from autograder.feedback.marks import Marks, read_marks
from autograder.verdict import CellVerdict, NotebookVerdict, SubmissionVerdict


@dataclass(frozen=True)
class Results:
    """``verdicts`` are in order of students; ``unreadable`` names those whose verdict could not be read, and why."""

    assignment: str
    verdicts: tuple[SubmissionVerdict, ...]
    unreadable: Mapping[str, str]

    @property
    def max_points(self) -> float:
        return max((verdict.max_points for verdict in self.verdicts), default=0.0)


def read_results(course: Course, assignment: str) -> Results:
    """Every verdict of an assignment. Raises NothingToGrade where no verdict can be read."""
    found: list[SubmissionVerdict] = []
    unreadable: dict[str, str] = {}
    marks = read_marks(course.db_url, assignment)
    for student in course.everybody_autograded(assignment):
        path = course.autograded(student, assignment) / "verdicts.json"
        try:
            found.append(with_marks(replace(verdicts.read(path), student=student), marks))
        except (OSError, ValueError, KeyError, TypeError) as error:
            unreadable[student] = f"{type(error).__name__}: {error}"[:200]
    if not found:
        raise NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")
    return Results(assignment, tuple(found), unreadable)


def with_marks(verdict: SubmissionVerdict, marks: Mapping[tuple[str, str], Marks]) -> SubmissionVerdict:
    notebooks = tuple(
        _marked(notebook, marks.get((verdict.student, notebook.notebook), Marks())) for notebook in verdict.notebooks
    )
    return replace(verdict, notebooks=notebooks)


def _marked(notebook: NotebookVerdict, marks: Marks) -> NotebookVerdict:
    return replace(notebook, cells=tuple(_scored(cell, marks.manual) for cell in notebook.cells))


def _scored(cell: CellVerdict, manual: Mapping[str, float]) -> CellVerdict:
    return replace(cell, points=manual[cell.cell]) if cell.cell in manual else cell

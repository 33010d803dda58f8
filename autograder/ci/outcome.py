"""What is said about one graded submission, before it takes the form of a file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.ci.text import Words, printable
from autograder.ci.visible import VisibleCheck, visible_check
from autograder.gradebook.results import result_of
from autograder.model import cells
from autograder.model.graded import Graded
from autograder.model.points import total
from autograder.model.verdict import FOR_A_PERSON, CellVerdict, Status, SubmissionVerdict


class Disclosure(Enum):
    """When the results of hidden tests reach the student; the values are Gradescope's own words."""

    NOW = "visible"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"


@dataclass(frozen=True)
class ExerciseOutcome:
    """One graded cell. ``points`` is None where a human must decide, or the grader failed.

    text: what was expected, what came, where to look; cleaned, several lines.
    visible: the outcome of the visible check; None for a written answer, which has none.
    """

    cell: str
    status: Status
    points: float | None
    max_points: float
    text: str
    seconds: float
    visible: VisibleCheck | None


@dataclass(frozen=True)
class NotebookOutcome:
    """One notebook's exercises in order, and what the rebuild put right."""

    name: str
    exercises: tuple[ExerciseOutcome, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SubmissionOutcome:
    """One submission. ``failure`` is not empty where there is no grade: nobody may take it for a zero."""

    student: str
    assignment: str
    notebooks: tuple[NotebookOutcome, ...] = ()
    failure: str = ""

    @property
    def points(self) -> float:
        """Of the exercises that are decided; what a person has yet to give is ``waiting``."""
        return total(exercise.points or 0.0 for notebook in self.notebooks for exercise in notebook.exercises)

    @property
    def max_points(self) -> float:
        return total(exercise.max_points for notebook in self.notebooks for exercise in notebook.exercises)

    @property
    def waiting(self) -> float:
        """Points that a human has yet to give."""
        exercises = [exercise for notebook in self.notebooks for exercise in notebook.exercises]
        return total(exercise.max_points for exercise in exercises if exercise.status in FOR_A_PERSON)


def failed_outcome(student: str, assignment: str, failure: str) -> SubmissionOutcome:
    """A submission that has no grade; ``failure`` says why, in one line."""
    return SubmissionOutcome(printable(student), assignment, failure=printable(" ".join(failure.split())))


def outcome_of(graded: Graded, assignment: Assignment) -> SubmissionOutcome:
    """A graded submission in words that may leave the grader."""
    words = Words(assignment.source.values())
    judged = {
        cells.grade_id(cell)
        for source in assignment.source.values()
        for cell in source.cells
        if cells.is_autograded(cell)
    }
    notebooks = []
    for verdict in graded.verdict.notebooks:
        executed = graded.notebooks.get(verdict.notebook)
        exercises = [_exercise(cell, cell.cell in judged, executed, words) for cell in verdict.cells]
        notebooks.append(NotebookOutcome(verdict.notebook, tuple(exercises), tuple(map(words.clean, verdict.notes))))
    broken = [notebook.notebook for notebook in graded.verdict.notebooks if notebook.status == "infrastructure"]
    failure = f"the grader failed on {', '.join(broken)}" if broken else _ungradable(graded.verdict)
    failure = words.clean(failure)
    return SubmissionOutcome(printable(graded.verdict.student), graded.verdict.assignment, tuple(notebooks), failure)


def _ungradable(verdict: SubmissionVerdict) -> str:
    """Why a notebook could not be judged; empty where all could."""
    found = (
        next(check.message for check in cell.checks)
        for notebook in verdict.notebooks
        for cell in notebook.cells[:1]
        if cell.status == "ungradable"
    )
    return " ".join(found).removesuffix(".")


def _exercise(verdict: CellVerdict, judged: bool, executed: NotebookNode | None, words: Words) -> ExerciseOutcome:
    visible = None
    if judged and verdict.status not in ("infrastructure", "ungradable"):
        seen = visible_check(executed, verdict)
        visible = VisibleCheck(seen.status, words.clean(seen.text))
    text, points = words.clean(_text(verdict)), result_of(verdict).points
    return ExerciseOutcome(verdict.cell, verdict.status, points, verdict.max_points, text, verdict.seconds, visible)


def _text(verdict: CellVerdict) -> str:
    if verdict.status == "manual":
        return "A person reads this answer."
    if verdict.status == "infrastructure":
        return "The grader failed here; nothing is wrong with the submission."
    failed = [check for check in verdict.checks if not check.passed]
    return "\n".join(line for check in failed for line in (check.message, check.hint) if line)

"""The exercises of an assignment that people mark: what was asked, the model answer, the mark scheme's lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.assignment.assignment import Assignment
from autograder.feedback.words import exercise_titles, readable
from autograder.gradebook.read import Key
from autograder.model import cells
from autograder.pipeline.mark_scheme import SCHEME, model_answer
from autograder.pipeline.rubric import RubricLine, rubric_lines


@dataclass(frozen=True)
class MarkedExercise:
    """``asked``: the instructor's text above the answer. ``comment_cell``: the cell that nbgrader hangs comments on;
    empty where there is none. ``always``: a person marks it for everybody; else only what the grader left open."""

    key: Key
    title: str
    max_points: float
    always: bool
    comment_cell: str
    asked: tuple[NotebookNode, ...] = ()
    model: tuple[NotebookNode, ...] = ()
    scheme: tuple[NotebookNode, ...] = ()
    lines: tuple[RubricLine, ...] = ()


def exercises_of(assignment: Assignment) -> dict[Key, MarkedExercise]:
    """Every graded cell, in the order of the notebooks; those that nobody reads among them have nobody waiting."""
    found: dict[Key, MarkedExercise] = {}
    for name, notebook in assignment.source.items():
        titles = exercise_titles(notebook)
        for place, cell in enumerate(notebook.cells):
            if cells.is_graded(cell):
                one = _exercise(name, notebook, place, titles)
                found[one.key] = one
    return found


def _exercise(name: str, notebook: NotebookNode, place: int, titles: Mapping[str, str]) -> MarkedExercise:
    cell = notebook.cells[place]
    own = cells.grade_id(cell) or ""
    manual = cells.is_manually_graded(cell)
    answer, scheme = model_answer(cell) if manual else ("", "")
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return MarkedExercise(
        (name, own),
        titles.get(own) or readable(own),
        cells.max_points(cell),
        manual,
        own if manual else _answer_above(notebook, place),
        tuple(_asked(notebook, place)),
        (make(answer),) if answer else (),
        (new_markdown_cell(scheme),) if scheme.strip() else (),
        tuple(rubric_lines(cell.source)) if manual else (),
    )


def _answer_above(notebook: NotebookNode, place: int) -> str:
    """The last answer between a test and the test before it."""
    for cell in notebook.cells[:place][::-1]:
        if cells.is_graded(cell):
            return ""
        if cells.is_solution(cell):
            return cells.grade_id(cell) or ""
    return ""


def _asked(notebook: NotebookNode, place: int) -> list[NotebookNode]:
    """The texts since the answer or the heading before; a task is its own text."""
    if cells.is_task(notebook.cells[place]):
        return [new_markdown_cell(SCHEME.sub("", notebook.cells[place].source))]
    found: list[NotebookNode] = []
    for cell in notebook.cells[:place][::-1]:
        if cell.cell_type != "markdown" or cells.is_solution(cell) or cells.is_graded(cell):
            break
        found.insert(0, new_markdown_cell(cell.source))
        if cell.source.lstrip().startswith("#"):
            break
    return found

"""Two verdicts on one submission put together, so that no exercise has fewer points than it had."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.gradebook.read import Key
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.graded import Graded
from autograder.model.verdict import CellVerdict, NotebookVerdict, SubmissionVerdict

_TOLERANCE = 1e-9


def keep_higher(course: Course, old: SubmissionVerdict, graded: Graded) -> tuple[Graded, dict[Key, float]]:
    """The new grading, in which exercises that would lose points keep their verdict and outputs of before.

    Returns what they would have had as well: (notebook, exercise) -> points.
    """
    before = {(one.notebook, cell.cell): cell for one in old.notebooks for cell in one.cells}
    kept: dict[Key, float] = {}
    books = tuple(_merged(notebook, before, kept) for notebook in graded.verdict.notebooks)
    if not kept:
        return graded, kept
    folder = course.autograded(old.student, old.assignment)
    notebooks = {
        name: _with_outputs(notebook, folder / f"{name}.ipynb", {cell for book, cell in kept if book == name})
        for name, notebook in graded.notebooks.items()
    }
    return replace(graded, verdict=replace(graded.verdict, notebooks=books), notebooks=notebooks), kept


def _merged(notebook: NotebookVerdict, before: dict[Key, CellVerdict], kept: dict[Key, float]) -> NotebookVerdict:
    found = []
    for cell in notebook.cells:
        key = notebook.notebook, cell.cell
        old = before.get(key)
        had = _points(old, cell.max_points) if old is not None else None
        if old is not None and had is not None and cell.points is not None and had > cell.points + _TOLERANCE:
            kept[key] = cell.points
            found.append(replace(old, points=had, max_points=cell.max_points))
        else:
            found.append(cell)
    return replace(notebook, cells=tuple(found))


def _points(old: CellVerdict, max_points: float) -> float | None:
    """Its points; where the exercise has another number of points now, the same share of them."""
    if old.points is None or abs(old.max_points - max_points) < _TOLERANCE:
        return old.points
    return old.points / old.max_points * max_points if old.max_points else None


def _with_outputs(notebook: NotebookNode, path: Path, kept: set[str]) -> NotebookNode:
    """The notebook with the outputs of before in the cells that kept their points."""
    if not kept or not path.is_file():
        return notebook
    before = {cells.grade_id(cell): cell for cell in nbformat.read(path, as_version=4).cells}
    copy = nbformat.from_dict(notebook)
    for cell in copy.cells:
        name = cells.grade_id(cell)
        if name in kept and name in before and cell.cell_type == "code":
            cell.outputs = before[name].get("outputs", [])
    return copy

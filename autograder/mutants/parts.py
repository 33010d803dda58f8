"""The parts of an assignment's solutions that points are given for: a solution cell, or a class of a file."""

import ast
import re
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import affected, graded_cells, solutions
from autograder.model import cells
from autograder.model.cells import tree_of


@dataclass(frozen=True)
class SolutionPart:
    """One part of the solutions.

    place: grade id of the cell, or name of the file. text: the solution there, without markers.
    lines: the first and last line of the part. exercises: grade ids of the cells that look at this part itself.
    others: those of the cells that build on it. graded: False where none of ``exercises`` has points.
    """

    assignment: str
    place: str
    name: str
    text: str
    lines: tuple[int, int]
    exercises: tuple[str, ...]
    others: tuple[str, ...]
    graded: bool

    @property
    def label(self) -> str:
        return self.name if len(self.exercises) > 1 else self.exercises[0]


def parts(assignment: Assignment, exercise: str = "") -> list[SolutionPart]:
    """The parts in the order of the notebooks, or those of one exercise. What no graded cell looks at is left out."""
    solved = solutions(assignment)
    found = [
        part
        for notebook in assignment.source.values()
        for cell in notebook.cells
        if cells.is_solution(cell) and str(cells.grade_id(cell)) in solved
        for part in _of_cell(assignment, notebook, cell, solved[str(cells.grade_id(cell))])
    ]
    for file in sorted(assignment.deliverables):
        found += _of_file(assignment, file, solved[file])
    return [part for part in found if not exercise or exercise in part.exercises]


def _of_cell(assignment: Assignment, notebook: NotebookNode, cell: NotebookNode, text: str) -> list[SolutionPart]:
    place = str(cells.grade_id(cell))
    here = notebook.cells.index(cell)
    concerned = affected(notebook, [place])
    after = list(enumerate(notebook.cells))[here + 1 :]
    answers = (index for index, other in after if other.cell_type == "code" and cells.is_solution(other))
    behind = next(answers, len(notebook.cells))
    own = [index for index in concerned if here < index < behind] or concerned[:1]
    lines = (1, text.count("\n") + 1)
    return _part(assignment, place, place.removesuffix("_answer"), text, lines, notebook, own, concerned)


def _of_file(assignment: Assignment, file: str, text: str) -> list[SolutionPart]:
    found: list[SolutionPart] = []
    tree = tree_of(text)
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            for notebook in assignment.source.values():
                every = graded_cells(notebook)
                own = [index for index in every if _names(notebook.cells[index], node.name)]
                lines = (node.lineno, node.end_lineno or node.lineno)
                found += _part(assignment, file, node.name, text, lines, notebook, own, every)
    return found


def _names(cell: NotebookNode, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", cell.source) is not None


def _part(
    assignment: Assignment,
    place: str,
    name: str,
    text: str,
    lines: tuple[int, int],
    notebook: NotebookNode,
    own: list[int],
    concerned: list[int],
) -> list[SolutionPart]:
    """The part as a list; empty where no graded cell looks at it."""
    if not own:
        return []
    exercises = tuple(str(cells.grade_id(notebook.cells[index])) for index in own)
    others = tuple(str(cells.grade_id(notebook.cells[index])) for index in concerned if index not in own)
    graded = any(cells.max_points(notebook.cells[index]) for index in own)
    return [SolutionPart(assignment.name, place, name, text, lines, exercises, others, graded)]

"""Writing the sample class into a course's ``submitted/`` folder, damage included."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.model.course import Course
from autograder.release.as_submitted import without_markers
from tools.demo.answers import ALAN, GRACE, MALLORY

ASSIGNMENT = "distilbert"

#: What each sample student deserves, of 50 points: what their mistakes cost, and no more.
EXPECTED = {"ada": 50.0, "alan": 50.0, "barbara": 25.0, "edsger": 50.0, "grace": 32.0, "mallory": 0.0, "noether": 0.0}

Answers = Mapping[str, Mapping[str, str]]


def build_sample_class(root: Path) -> list[str]:
    """Write ``submitted/<student>/distilbert/`` for the seven sample students; returns their names.

    Ada took the course's own solution, Alan solved it in another style, Barbara handed in two notebooks of four,
    Edsger's notebooks are damaged, Grace made mistakes, Mallory forges, Noether changed nothing.
    """
    assignment = Assignment.open(root, ASSIGNMENT)
    own = {name: _solutions(notebook) for name, notebook in assignment.source.items()}
    halfway = {name: own[name] for name in ("1_embedding", "2_attention_block")}
    _write(root, assignment, "ada", own)
    _write(root, assignment, "alan", ALAN)
    _write(root, assignment, "barbara", halfway, only=tuple(halfway))
    _write(root, assignment, "edsger", own, damage=_damage)
    _write(root, assignment, "grace", GRACE)
    _write(root, assignment, "mallory", MALLORY, damage=_forge)
    _write(root, assignment, "noether", {})
    return sorted(EXPECTED)


def _solutions(notebook: NotebookNode) -> dict[str, str]:
    return {
        cells.nbgrader(cell)["grade_id"]: without_markers(cell.source)
        for cell in notebook.cells
        if cells.is_solution(cell)
    }


def _write(
    root: Path,
    assignment: Assignment,
    student: str,
    answers: Answers,
    only: tuple[str, ...] | None = None,
    damage: Callable[[str, NotebookNode], NotebookNode] = lambda name, notebook: notebook,
) -> None:
    folder = Course(root).submitted(student, ASSIGNMENT)
    folder.mkdir(parents=True, exist_ok=True)
    for name in only or assignment.release:
        notebook = nbformat.from_dict(assignment.release[name])
        for cell in notebook.cells:
            grade_id = cells.grade_id(cell)
            if grade_id and grade_id in answers.get(name, {}):
                cell.source = answers[name][grade_id]
        damaged = damage(name, notebook)
        # as plain JSON: nbformat would complain of the damage, and mend a part of it
        (folder / f"{name}.ipynb").write_text(json.dumps(damaged, indent=1), encoding="utf-8")


def _damage(name: str, notebook: NotebookNode) -> NotebookNode:
    """What happens to notebooks by accident: a test cell lost, one doubled, marks gone, cells out of order."""
    graded = [number for number, cell in enumerate(notebook.cells) if cells.is_graded(cell)]
    if name == "1_embedding":
        del notebook.cells[graded[0]]
    elif name == "2_attention_block":
        notebook.cells.insert(graded[1], nbformat.from_dict(notebook.cells[graded[1]]))
        notebook.cells[graded[0]].source = "# I tidied this up\n"
    elif name == "3_model_assembly":
        notebook.cells[graded[0]], notebook.cells[graded[1]] = notebook.cells[graded[1]], notebook.cells[graded[0]]
    else:
        for cell in notebook.cells:
            cell.metadata.pop("nbgrader", None)
    return notebook


def _forge(name: str, notebook: NotebookNode) -> NotebookNode:
    """Stock nbgrader runs no cell with this tag, and an unrun test has full points there."""
    for cell in notebook.cells:
        if cells.is_graded(cell):
            cell.metadata["tags"] = ["skip-execution"]
            cell.metadata["nbgrader"]["points"] = 100
    return notebook

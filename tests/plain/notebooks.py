"""Notebooks in the manner of nbgrader's own: a cell of each of its kinds, and a submission with other texts in them."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.plain.entries import marks as marks_of

PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}


def _cell(text: str, kind: str, grade_id: str = "", **marks: object) -> NotebookNode:
    source = dedent(text).strip("\n")
    cell = new_code_cell(source) if kind == "code" else new_markdown_cell(source)
    if grade_id:
        cell.metadata |= marks_of(grade_id, **marks)
    return cell


def code(text: str) -> NotebookNode:
    """A cell without a mark."""
    return _cell(text, "code")


def words(text: str) -> NotebookNode:
    return _cell(text, "markdown")


def locked(grade_id: str, text: str) -> NotebookNode:
    return _cell(text, "code", grade_id, locked=True)


def answer(grade_id: str, text: str) -> NotebookNode:
    """What students fill in, tested elsewhere."""
    return _cell(text, "code", grade_id, solution=True)


def graded(grade_id: str, text: str, points: float = 1) -> NotebookNode:
    return _cell(text, "code", grade_id, grade=True, locked=True, points=points)


def read_by_hand(grade_id: str, text: str, points: float = 1, kind: str = "markdown") -> NotebookNode:
    return _cell(text, kind, grade_id, grade=True, solution=True, points=points)


def task(grade_id: str, text: str, points: float = 1) -> NotebookNode:
    return _cell(text, "markdown", grade_id, task=True, locked=True, points=points)


def notebook(*cells: NotebookNode, kernel: Mapping[str, str] = PYTHON) -> NotebookNode:
    made = new_notebook(cells=list(cells), metadata={"kernelspec": dict(kernel)} if kernel else {})
    for number, cell in enumerate(made.cells):
        cell.id = f"c{number}"
    return made


def write(made: NotebookNode, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(made, path)


def hand_in(root: Path, student: str, assignment: str, texts: Mapping[str, str]) -> None:
    """A copy of the released assignment with other texts, by grade id, in whatever notebook has that cell."""
    for path in sorted((root / "release" / assignment).rglob("*")):
        target = root / "submitted" / student / assignment / path.relative_to(root / "release" / assignment)
        if path.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".ipynb":
            target.write_bytes(path.read_bytes())
            continue
        made = nbformat.read(path, as_version=4)
        for cell in made.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            if grade_id in texts:
                cell.source = dedent(texts[grade_id]).strip("\n")
        nbformat.write(made, target)

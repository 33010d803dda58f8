"""A small lab: two functions with plain tests and a written answer; and what students do to its file."""

import copy
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.cli import main
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.once import made_once

LAB, NAME = "lab", "p1"
SQUARE = "def square(x):\n    return x * x\n"
CUBE = "def cube(x):\n    return x * x * x\n"
WORDS = "Minus times minus is plus."
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
Cell = dict[str, Any]
Notebook = dict[str, Any]


def marked(cell: NotebookNode, name: str, points: float | None = None, *, solution: bool = False) -> NotebookNode:
    grade = {"points": points} if points is not None else {}
    cell.metadata["nbgrader"] = {
        "grade": points is not None, "grade_id": name, "locked": not solution, "schema_version": 3,
        "solution": solution, "task": False, **grade,
    }  # fmt: skip
    return cell


def hidden(text: str) -> str:
    return text.replace("return", "### BEGIN SOLUTION\n    return") + "    ### END SOLUTION\n"


def source(test: str = "assert square(3) == 9\nassert square(-4) == 16") -> NotebookNode:
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = new_notebook(metadata=kernel)
    notebook.cells = [
        new_markdown_cell("# Lab\nTwo functions and a text.", id="head"),
        marked(new_code_cell(hidden(SQUARE), id="square"), "square", solution=True),
        marked(new_code_cell(test, id="tsquare"), "test_square", 2),
        marked(new_code_cell(hidden(CUBE), id="cube"), "cube", solution=True),
        marked(new_code_cell("assert cube(2) == 8\nassert cube(-3) == -27", id="tcube"), "test_cube", 3),
        new_markdown_cell("Explain why a square is never negative.", id="ask"),
        marked(new_markdown_cell("Because the signs cancel.", id="explain"), "explain", 5, solution=True),
    ]
    return notebook


def make_lab(folder: Path) -> Course:
    return Course(shutil.copytree(made_once("damaged-lab", _make), folder))


def _make(root: Path) -> None:
    (root / "source" / LAB).mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(
        'import os\nc = get_config()\nc.CourseDirectory.course_id = "lab"\n'
        "c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))\n"
    )
    nbformat.write(source(), root / "source" / LAB / f"{NAME}.ipynb")
    generate(Course(root), LAB)


def released(course: Course) -> Notebook:
    found: Notebook = json.loads((course.release(LAB) / f"{NAME}.ipynb").read_text())
    for cell in found["cells"]:
        cell["source"] = "".join(cell["source"])
    return found


def answered(course: Course, words: str = WORDS) -> Notebook:
    notebook = released(course)
    at(notebook, "square")["source"], at(notebook, "cube")["source"] = SQUARE, CUBE
    if words:
        at(notebook, "explain")["source"] = words
    return notebook


def at(notebook: Notebook, name: str) -> Cell:
    return next(cell for cell in notebook["cells"] if name_of(cell) == name)


def name_of(cell: Cell) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def code(text: str) -> Cell:
    return {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}


def words(text: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def retyped(cell: Cell, kind: str) -> Cell:
    other = {"cell_type": kind, "metadata": copy.deepcopy(cell["metadata"]), "source": cell["source"]}
    return other | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def beside(notebook: Notebook, name: str, text: str, kind: str = "code", after: bool = False) -> Notebook:
    """A copy of a marked cell, as copy and paste makes it, with another text or of another type."""
    index = notebook["cells"].index(at(notebook, name))
    other = retyped(notebook["cells"][index], kind) | {"source": text}
    notebook["cells"].insert(index + after, other)
    return notebook


def changed(
    notebook: Notebook, *, first: Cell | None = None, last: Cell | None = None, without: str = "", **texts: str
) -> Notebook:
    """The notebook with other texts of marked cells, without one of them, with a cell before or after all."""
    for name, text in texts.items():
        at(notebook, name)["source"] = text
    if without:
        notebook["cells"].remove(at(notebook, without))
    notebook["cells"] = [*filter(None, [first]), *notebook["cells"], *filter(None, [last])]
    return notebook


def as_format_3(notebook: Notebook) -> None:
    """As notebooks were written before 2014."""
    cells = notebook.pop("cells")
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["input"], cell["language"] = cell.pop("source"), "python"
    notebook["worksheets"] = [{"cells": cells}]
    notebook["nbformat"] = 3


def hand_in(course: Course, student: str, files: Mapping[str, bytes] | Notebook) -> None:
    folder = course.submitted(student, LAB)
    folder.mkdir(parents=True, exist_ok=True)
    if "cells" in files:
        files = {f"{NAME}.ipynb": json.dumps(files, ensure_ascii=False).encode()}
    for name, data in files.items():
        (folder / name).write_bytes(data)


def run(course: Course, *command: str) -> int:
    return main(["--course-dir", str(course.root), *command])

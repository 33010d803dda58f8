"""A tiny course on another subject: one notebook, the exercise ``doubled``, and sample answers of a test's choice."""

from __future__ import annotations

import zipfile
from pathlib import Path
from textwrap import dedent

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.assignment.assignment import Assignment
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.store import References
from autograder.references.stored_files import ARCHIVES

ORACLE = """
import numpy as np
from autograder.exercise import Case, Exercise, Mistake


def make(generator):
    x = generator.normal(size=5)
    return [Case(inputs={"x": x}, expected={"doubled": 2 * x})]


EXERCISE = Exercise(make, mistakes=[
    Mistake("squared", "The numbers were squared.", "Add a number to itself.",
            lambda case: {"doubled": case.inputs["x"] ** 2}),
    Mistake("halved", "The numbers were halved.", "", lambda case: {"doubled": case.inputs["x"] / 2}, share=0.5),
])
"""
#: No exercise needs this cell: trying an answer must not run it.
UNUSED = "import os"
SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION\n"
CHECK = """
assert (double(np.ones(3)) == 2).all(), "two times one is two"
### BEGIN HIDDEN TESTS
from autograder import reference
for case in reference("tiny/doubled"):
    case.compare(doubled=double(case.x))
### END HIDDEN TESTS
"""


def _cell(text: str, cell: str, **marks: object) -> nbformat.NotebookNode:
    made = new_code_cell(dedent(text).strip("\n"), id=cell.replace("_", "-"))
    if marks:
        base = {
            "schema_version": 3,
            "grade_id": cell,
            "grade": False,
            "solution": False,
            "locked": False,
            "task": False,
        }
        made.metadata["nbgrader"] = base | marks
    return made


def tiny_course(root: Path, answers: str = "RIGHT = []\nWRONG = []\n", oracle: str = ORACLE) -> Assignment:
    """The assignment ``tiny`` in a course at ``root``. ``answers``: lines of its answers.py behind the import."""
    source, exercise = root / "source" / "tiny", root / "exercises" / "tiny" / "doubled"
    source.mkdir(parents=True)
    exercise.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    notebook = new_notebook(
        cells=[
            _cell("import numpy as np", "imports"),
            _cell(UNUSED, "demonstration"),
            _cell(SOLUTION, "doubled_answer", solution=True),
            _cell(CHECK, "doubled", grade=True, locked=True, points=4),
        ]
    )
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, source / "1_tiny.ipynb")
    (exercise / "oracle.py").write_text(oracle)
    (exercise / "answers.py").write_text("from autograder.exercise import SampleAnswer\n" + dedent(answers))
    loader.forget()
    References.of_course(root).build("tiny", seed=1)
    return Assignment.unreleased(Course(root), "tiny")


def unpack_archives(folder: Path) -> None:
    """Store the references of an assignment in folders, as older graders did it."""
    for name in ARCHIVES:
        with zipfile.ZipFile(folder / name) as archive:
            archive.extractall(folder)
        (folder / name).unlink()

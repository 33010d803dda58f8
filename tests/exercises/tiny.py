"""A tiny course on another subject: one notebook, the exercise ``doubled``, and sample answers of a test's choice."""

from pathlib import Path
from textwrap import dedent

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.assignment.assignment import Assignment
from autograder.authoring.packs import patched_solutions
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.store import References
from autograder.references.write import ARCHIVES

EXERCISE = """
import numpy as np
from autograder.exercise import Case, Exercise, Mistake, SampleAnswer


def make(generator):
    x = generator.normal(size=5)
    return [Case(inputs={"x": x}, expected={"doubled": 2 * x})]


MISTAKES = [
    Mistake("squared", "The numbers were squared.", "Add a number to itself.", ("2 * x", "x**2")),
    Mistake("halved", "The numbers were halved.", "", ("2 * x", "x / 2"), share=0.5),
]
RIGHT, WRONG, ACCEPTED = [], [], {}
"""
#: What follows a test's own ``RIGHT``, ``WRONG`` and ``ACCEPTED``.
_END = """
RIGHT = {answer.name: answer for answer in RIGHT}
EXERCISE = Exercise(make, mistakes=MISTAKES, right=RIGHT, wrong=WRONG, accepted=ACCEPTED)
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


#: Text of an exercise -> its stored references: running the patched solutions takes seconds.
_built: dict[str, dict[str, bytes]] = {}


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


def tiny_course(root: Path, answers: str = "", exercise: str = EXERCISE) -> Assignment:
    """The assignment ``tiny`` in a course at ``root``.

    answers: lines of its exercise that set ``RIGHT`` and ``WRONG``, lists of SampleAnswer beside those that the
    mistakes make, and ``ACCEPTED``.
    """
    source, exercises = root / "source" / "tiny", root / "exercises" / "tiny"
    source.mkdir(parents=True)
    exercises.mkdir(parents=True)
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
    (exercises / "doubled.py").write_text(exercise + dedent(answers) + _END)
    loader.forget()
    if exercise not in _built:
        with patched_solutions(Course(root), "tiny") as run:
            References.of_course(root).build("tiny", seed=1, run=run)
        _built[exercise] = {name: (exercises / name).read_bytes() for name in (*ARCHIVES, "manifest.json")}
    for name, data in _built[exercise].items():
        (exercises / name).write_bytes(data)
    return Assignment.unreleased(Course(root), "tiny")

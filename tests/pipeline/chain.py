"""An assignment of several small notebooks, in which a later one is not charged for what an earlier one was."""

from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.references.store import References
from tests.plain.tiny import cell, solution, test

BASE, TWICE, PLAIN, LAST = NOTEBOOKS = ("1_base", "2_twice", "3_plain", "4_last")

_BASE = """
import numpy as np
from autograder.exercise import Case, Exercise
def make(generator):
    drawn = [generator.normal(size=(2, 3)) for _ in range(2)]
    return [Case({}, {"x": x}, expected={"y": x + 1}) for x in drawn]
EXERCISE = Exercise(make)
"""
#: An answer that is twice a wrong ``base`` keeps its points where ``base`` has lost its own.
_TWICE = """
import numpy as np
from autograder.exercise import Case, Exercise, compare_case, right
def make(generator):
    drawn = [generator.normal(size=(2, 3)) for _ in range(2)]
    return [Case({}, {"x": x}, expected={"y": 2 * (x + 1)}) for x in drawn]
def rule(exercise, case, answers):
    follows = np.allclose(answers.arrays.get("y", 0), 2 * case.inputs["x"])
    return right("y") if follows and answers.charged("chain/base") else compare_case(exercise, case, answers)
EXERCISE = Exercise(make, rule)
"""


def _hidden(name: str) -> str:
    return f"""
### BEGIN HIDDEN TESTS
from autograder import reference
for case in reference("chain/{name}"):
    case.compare(y={name}(case.x))
### END HIDDEN TESTS
"""


#: What is in each notebook behind the solution of the function that it is called for.
_CELLS = {
    BASE: [solution("def base(x): return x + 1", "base_answer"), test(_hidden("base"), "base", 3)],
    TWICE: [solution("def twice(x): return 2 * (x + 1)", "twice_answer"), test(_hidden("twice"), "twice", 2)],
    PLAIN: [
        cell("figures.attention_block()"),
        solution("def plain(x): return -x", "plain_answer"),
        test("assert plain(2) == -2\n### BEGIN HIDDEN TESTS\nassert plain(0) == 0\n### END HIDDEN TESTS", "plain"),
    ],
    LAST: [
        cell("figures.attention_block()"),
        solution("def last(x): return x", "last_answer"),
        test("assert last(7) == 7", "last"),
    ],
}


def chain(course: Path) -> Assignment:
    """The assignment; its references are written below ``course``."""
    for name, text in (("base", _BASE), ("twice", _TWICE)):
        path = course / "exercises" / "chain" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    references = References.of_course(course)
    references.build("chain", 1)
    source = {name: new_notebook(cells=cells) for name, cells in _CELLS.items()}
    release = {name: nbformat.from_dict(notebook) for name, notebook in source.items()}
    for one in (one for notebook in release.values() for one in notebook.cells):
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = "raise NotImplementedError()"
        one.source = one.source.partition("### BEGIN HIDDEN TESTS")[0]
    return Assignment("chain", source, release, {}, frozenset(), references, drawings="course.figures")


def submitted(assignment: Assignment, answers: Mapping[str, str] = {}, without: tuple[str, ...] = ()) -> Submission:
    """The instructor's solutions, with these answers in the place of some; ``without``: notebooks that are missing.

    answers: notebook -> text of its one solution cell.
    """
    notebooks = {}
    for name in assignment.source:
        sent = nbformat.from_dict(assignment.release[name])
        for trusted, one in zip(assignment.source[name].cells, sent.cells, strict=True):
            if one.metadata.get("nbgrader", {}).get("solution"):
                one.source = answers.get(name, trusted.source)
        notebooks[name] = nbformat.writes(sent).encode()
    return Submission("ada", {name: data for name, data in notebooks.items() if name not in without}, {}, ())

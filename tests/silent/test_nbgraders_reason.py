"""What nbgrader says against a notebook reaches the instructor whole, in one line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course

pytestmark = pytest.mark.slow


def old_schema(notebook: NotebookNode) -> None:
    notebook.cells[1].metadata["nbgrader"]["schema_version"] = 1


def no_end(notebook: NotebookNode) -> None:
    notebook.cells[1].source += "\n### BEGIN SOLUTION"


SAID: dict[Callable[[NotebookNode], None], tuple[str, ...]] = {
    old_schema: ("use an old version of the nbgrader metadata format", "back up your class files", "nbgrader update ."),
    no_end: (f"{NOTEBOOK}.ipynb", "no end solution statement found"),
}


@pytest.mark.parametrize("damage", SAID)
def test_g6_nbgraders_reason_is_told_whole(tmp_path: Path, damage: Callable[[NotebookNode], None]) -> None:
    course = build_course(tmp_path / "course")
    path = course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    damage(notebook)
    nbformat.write(notebook, path)
    with pytest.raises(GradingError) as refused:
        generate(course, ASSIGNMENT)
    said = str(refused.value)
    assert all(words in said for words in SAID[damage]), said
    assert "\n" not in said and "Please see the" not in said


def test_g6_our_own_reason_is_not_wrapped_into_nbgraders(tmp_path: Path) -> None:
    course = build_course(tmp_path / "course")
    helper = course.source(ASSIGNMENT) / "helper.py"
    helper.write_text("def helped():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n")
    with pytest.raises(
        GradingError, match=r"helper\.py has solution markers.*students would get the solution"
    ) as refused:
        generate(Course(course.root), ASSIGNMENT)
    assert "GradingError" not in str(refused.value)


def test_g6_a_name_that_is_a_pattern_is_called_so(tmp_path: Path) -> None:
    course = build_course(tmp_path / "course")
    shutil.move(course.source(ASSIGNMENT), course.source("hw[1]"))
    with pytest.raises(GradingError, match=r"'hw\[1\]': it reads \*, \? and \[\] in a name as a pattern"):
        generate(Course(course.root), "hw[1]")

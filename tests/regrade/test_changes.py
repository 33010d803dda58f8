"""What can change in a running assignment besides a test: a rule, points, an exercise that comes in."""

from __future__ import annotations

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.classroom import run as classroom
from autograder.errors import GradingError
from autograder.gradebook.gather import gather
from autograder.gradebook.write import add_cells
from autograder.model.course import Course
from autograder.release.generate import generate, require_same_cells
from tests.regrade.conftest import NOTEBOOK, SHEET, World, exercise
from tests.regrade.test_regrade import BEFORE, document, regrade

pytestmark = pytest.mark.slow


def test_a_mended_rule_changes_the_right_student(world, capsys, monkeypatch):
    monkeypatch.setattr(classroom, "rule_parts", lambda assignment: {"rule second": "mended"})
    world.shares |= {("ada", "second"): 0.5}
    students = document(world, capsys, "--yes")["students"]
    assert {one["student"]: len(one["changes"]) for one in students} == {"ada": 1, "bob": 0, "eve": 0}
    assert {one["why"] for one in students} == {"rule of second changed"}
    assert world.points() == BEFORE | {"ada": BEFORE["ada"] | {"second": 1.0}}


def test_other_points_keep_the_share_that_was_earned(world):
    def halve(found: nbformat.NotebookNode) -> None:
        next(cell for cell in found.cells if cell.id == "first").metadata.nbgrader["points"] = 6

    world.correct(halve)
    generate(Course(world.course.root), SHEET)
    world.shares[("ada", "first")] = 0.0
    assert regrade(world, "--yes") == 0
    found = world.points()
    assert (found["ada"]["first"], found["bob"]["first"], found["bob"]["why"]) == (6.0, 3.0, 0.5)


def come_in(world: World) -> Assignment:
    path = world.course.source(SHEET) / f"{NOTEBOOK}.ipynb"
    found = nbformat.read(path, as_version=4)
    found.cells[-1:-1] = exercise("third")
    nbformat.write(found, path)
    return Assignment.unreleased(world.course, SHEET)


def test_an_exercise_that_comes_in_costs_nobody_what_they_have(world, capsys):
    source = come_in(world).source
    assert sorted(add_cells(world.course.db_url, SHEET, source)) == ["third", "third_answer"]
    generate(world.course, SHEET)
    world.shares[("eve", "third")] = 1.0  # her notebook has it in a cell of her own, say
    students = document(world, capsys, "--yes")["students"]
    assert [one["student"] for one in students] == ["ada", "bob", "eve"]
    new = {"ada": 0.0, "bob": 0.0, "eve": 4.0}
    assert world.points() == {student: one | {"third": new[student]} for student, one in BEFORE.items()}
    assert {row.max_points for row in gather(world.course, SHEET).rows} == {10.0}
    assert add_cells(world.course.db_url, SHEET, source) == []


def test_it_comes_in_only_where_that_is_meant(world):
    assignment = come_in(world)
    with pytest.raises(GradingError, match=r"is new, but submissions were graded.*--add-exercises"):
        require_same_cells(world.course, assignment)
    require_same_cells(world.course, assignment, adding=True)
    assignment.source[NOTEBOOK].cells = [cell for cell in assignment.source[NOTEBOOK].cells if cell.id != "second"]
    with pytest.raises(GradingError, match="'second' is gone"):
        require_same_cells(world.course, assignment, adding=True)

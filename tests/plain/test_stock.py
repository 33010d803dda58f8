"""An ordinary course, graded as it is: honest submissions get the points that stock nbgrader gives them, or more."""

from __future__ import annotations

import pytest

from autograder.model.verdict import read
from tests.plain import quickstart, styles
from tests.plain.conftest import Graded

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stock and ours")]
#: Stock nbgrader takes every line on stderr for a failed test.
STDERR = "styles/warned"
#: The kernel of this one dies; stock nbgrader then has no grade at all for the notebook, however right the rest is.
CRASHING = ("ps1", "eve")
STUDENTS = [
    (assignment, student)
    for assignment, module in (("ps1", quickstart), ("styles", styles))
    for student in module.STUDENTS
    if (assignment, student) != CRASHING
]


@pytest.mark.parametrize(("assignment", "student"), STUDENTS)
def test_the_points_are_those_of_stock_nbgrader(both: dict[str, Graded], assignment: str, student: str) -> None:
    stock, ours = both[assignment].stock[student], both[assignment].ours[student]
    assert {cell: ours[cell] for cell in ours if cell != STDERR} == {
        cell: stock[cell] for cell in stock if cell != STDERR
    }


def test_a_test_that_prints_on_stderr_and_holds_has_its_points(both: dict[str, Graded]) -> None:
    assert both["styles"].stock["ada"][STDERR] == 0
    assert both["styles"].ours["ada"][STDERR] == 1
    assert both["styles"].ours["bob"][STDERR] == 0, "bob's mean is wrong"


def test_a_crash_costs_the_cells_that_meet_it_and_no_other(both: dict[str, Graded]) -> None:
    stock, ours = both["ps1"].stock["eve"], both["ps1"].ours["eve"]
    assert stock["problem1/correct_squares"] is None
    assert (ours["problem1/correct_squares"], ours["problem1/squares_invalid_input"]) == (1, 1)
    assert ours["problem1/correct_sum_of_squares"] == 0


def test_the_only_cell_judged_in_the_students_kernel_is_the_one_that_deletes_a_name(both: dict[str, Graded]) -> None:
    course = both["ps1"].course
    assert course is not None
    for assignment, inside in (("ps1", {"sum_of_squares_uses_squares"}), ("styles", set())):
        verdict = read(course.autograded("ada", assignment) / "verdicts.json")
        cells = [cell for notebook in verdict.notebooks for cell in notebook.cells]
        assert {cell.cell for cell in cells if cell.judged == "kernel"} == inside


def test_the_table_speaks_of_points_and_of_what_waits(both: dict[str, Graded]) -> None:
    row = both["styles"].rows["ada"]
    assert (row.total, sum(row.max_points.values())) == (12, 19)
    assert row.waiting == ("shown", "why", "plot")
    assert not row.failure

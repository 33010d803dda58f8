"""Parts of a point add up to whole ones wherever points are summed or compared."""

from __future__ import annotations

from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult, result_of
from autograder.model.verdict import CellVerdict, NotebookVerdict, same, total

PARTS = (0.1, 0.2, 0.3, 1.1, 2.2)


def test_b11_sums_of_parts_are_what_people_write() -> None:
    assert sum(PARTS[:2]) != 0.3 and total(PARTS[:2]) == 0.3
    assert total(PARTS) == 3.9 and same(sum(PARTS[3:]), 3.3) and not same(3.3, 3.31)


def test_b11_verdicts_and_results_are_full_where_every_part_is() -> None:
    cells = tuple(CellVerdict(f"c{part}", "passed", part, part) for part in PARTS[:3])
    verdict = NotebookVerdict("ada", "lab", "p1", cells)
    assert (verdict.points, verdict.max_points, verdict.status) == (0.6, 0.6, "passed")
    result = StudentResult(Student("ada"), {("p1", cell.cell): result_of(cell) for cell in cells})
    assert result.points == result.max_points == result.score == 0.6

"""``docs/checks.md``: without a survivor, without ✗ at full points."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.model.course import Course
from autograder.mutants.rows import COLUMNS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "checks.md"
#: Assignments whose table is not written yet: all their mutants are to be tried, and survivors mended, first.
NOT_YET: set[str] = set()
ASSIGNMENTS = [name for name in Course(ROOT).assignments() if name not in NOT_YET]
needs_page = pytest.mark.skipif(not PAGE.is_file(), reason="docs/checks.md is not written yet: make mutants")


def section(assignment: str) -> str:
    pattern = rf"^## {assignment}\n(.*?)(?=^## |\Z)"
    found = re.search(pattern, PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found, f"docs/checks.md has no section on {assignment}: run make mutants"
    return found[1]


def totals(assignment: str) -> dict[str, int]:
    """Column -> number, of the last row of an assignment's table."""
    row = re.search(r"^\| all \|(.*)\|$", section(assignment), re.MULTILINE)
    assert row is not None
    return dict(zip(COLUMNS, (int(cell.replace(",", "")) for cell in row[1].split("|")), strict=False))


@needs_page
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_no_mutant_survives_and_no_visible_check_refuses_full_points(assignment: str) -> None:
    found = totals(assignment)
    assert (found["survivors"], found["full points with ✗"]) == (0, 0)


@needs_page
def test_an_assignment_has_a_table_or_is_named_as_one_without() -> None:
    assert NOT_YET.isdisjoint(re.findall(r"^## (\w+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


@needs_page
@pytest.mark.skipif(bool(NOT_YET), reason=f"without a table yet: {', '.join(sorted(NOT_YET))}")
def test_there_are_three_thousand_mutants() -> None:
    assert sum(totals(assignment)["mutants"] for assignment in ASSIGNMENTS) >= 3000


@needs_page
def test_nine_of_ten_rejected_mutants_are_told_what_is_wrong() -> None:
    every = [totals(assignment) for assignment in ASSIGNMENTS]
    total = {column: sum(found[column] for found in every) for column in COLUMNS}
    assert total["by name"] + total["in words"] >= 0.9 * (total["rejected"] - total["crashed"])

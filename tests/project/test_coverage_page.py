"""Nothing that the course's sources teach is lost: each item has a cell, or a reason why it is left out."""

import subprocess
import sys

import nbformat
import pytest

from tests.grading import ROOT
from tools import coverage_page

ITEMS = coverage_page.read_items()


@pytest.mark.parametrize("item", ITEMS, ids=[item.id for item in ITEMS])
def test_an_item_has_a_place_or_a_reason(item: coverage_page.Item) -> None:
    assert item.places or item.changed


@pytest.mark.parametrize("item", [item for item in ITEMS if item.exercise], ids=lambda item: item.id)
def test_an_exercise_has_a_graded_cell(item: coverage_page.Item) -> None:
    assert any(place.graded for place in item.places)


def test_no_cell_claims_an_item_that_there_is_not() -> None:
    assert coverage_page.problems(ITEMS) == []


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, "-m", "tools.coverage_page", "--check"], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stdout.decode()


def test_the_page_links_to_notebooks_and_cells_that_exist() -> None:
    for item in ITEMS:
        for place in item.places:
            notebook = nbformat.read(ROOT / "source" / f"{place.notebook}.ipynb", as_version=4)
            assert set(place.cells) <= {cell.id for cell in notebook.cells}


def test_a_gap_is_reported() -> None:
    lost = coverage_page.Item("9.8", "something new", False, "", [])
    ungraded = coverage_page.Item("9.9", "an exercise", True, "a reason", [])
    assert coverage_page.problems([*ITEMS, lost, ungraded]) == [
        "9.8: no cell covers it, and no reason is given",
        "9.9: an exercise without a graded cell",
    ]


def test_a_claim_of_an_unknown_item_is_reported() -> None:
    assert any("there is no such item" in said for said in coverage_page.problems(ITEMS[1:]))


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    cells = [
        nbformat.v4.new_markdown_cell("## Exercise"),
        nbformat.v4.new_markdown_cell("### Part"),
        nbformat.v4.new_code_cell("", metadata={"nbgrader": {"grade": True, "grade_id": "inside", "points": 2}}),
        nbformat.v4.new_markdown_cell("## Next"),
        nbformat.v4.new_code_cell("", metadata={"nbgrader": {"grade": True, "grade_id": "outside", "points": 2}}),
    ]
    assert dict(coverage_page.graded(cells, 0)) == {"inside": 2}
    assert dict(coverage_page.graded(cells, 1)) == {"inside": 2}
    assert dict(coverage_page.graded(cells, 3)) == {"outside": 2}

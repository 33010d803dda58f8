"""The drawings of attention use the letters of their own notebook, which the road map's table of names lists."""

import re

import nbformat
import pytest

from course import figures
from course.figures.described import alt_text
from tests.grading import ROOT

CALL = re.compile(r"figures\.(attention_in_\w+)\(\)")


def drawings() -> list[tuple[str, list[str]]]:
    """(assignment, the letters of the shapes in its drawing of attention)"""
    found = []
    for path in sorted((ROOT / "source").glob("*/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if call := CALL.fullmatch(cell.source.strip()):
                said = alt_text(getattr(figures, call[1])())
                shapes = re.findall(r"\((\w+), (\w+)\)", said)
                found.append((path.parent.name, sorted({letter for shape in shapes for letter in shape})))
    return found


def names_of(assignment: str) -> set[str]:
    """The names in the assignment's column of the table."""
    table = (ROOT / "docs" / "roadmap.md").read_text(encoding="utf-8").split("## One thing, five names")[1]
    lines = [line.strip("|") for line in table.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    column = rows[0].index(assignment)
    return {name for row in rows[2:] for name in re.findall(r"\w+", row[column])}


@pytest.mark.parametrize(("assignment", "letters"), drawings(), ids=lambda value: str(value))
def test_a_drawing_of_attention_has_the_letters_of_its_assignment(assignment: str, letters: list[str]) -> None:
    assert len(letters) >= 2
    assert set(letters) <= names_of(assignment)


def test_three_notebooks_draw_attention() -> None:
    assert [assignment for assignment, _ in drawings()] == ["distilbert", "encoder_lab", "numpy_attention"]

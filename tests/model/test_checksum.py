from __future__ import annotations

import itertools

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import compute_checksum

from autograder.model.cells import checksum_of


@pytest.mark.parametrize("new_cell", [new_code_cell, new_markdown_cell])
@pytest.mark.parametrize(("grade", "solution", "locked"), itertools.product([True, False, None], repeat=3))
def test_the_checksum_of_a_cell_is_nbgraders(new_cell, grade, solution, locked):
    marks = {"grade": grade, "solution": solution, "locked": locked}
    said = {name: value for name, value in marks.items() if value is not None}
    for points in (2, 0.5, "3"):
        cell = new_cell("x = 'ä €'\n", metadata={"nbgrader": {"grade_id": "a", "points": points, **said}})
        assert checksum_of(cell) == compute_checksum(cell)

"""The corpus through real kernels, the student's and the tester's: all of it in one notebook."""

from __future__ import annotations

import pytest

from autograder.model.limits import Limits
from tests.plain.entries import entries, notebook
from tests.plain.tiny import assignment, graded

pytestmark = pytest.mark.slow

RUNNABLE = [entry for entry in entries() if entry.can_run]
LIMITS = Limits(cell_seconds=30, submission_seconds=300)


@pytest.mark.parametrize("number", [0, 1], ids=["solutions", "first wrong answers"])
def test_every_test_cell_is_judged_where_it_should_be_and_gives_the_points_of_one_process(number: int):
    answers = {f"{entry.name}_answer": entry.all_answers[number].source for entry in RUNNABLE}
    done = graded(assignment(*notebook(RUNNABLE).cells), answers, limits=LIMITS)
    found = {cell.cell: (cell.judged, cell.points) for cell in done.verdict.notebooks[0].cells}
    assert found == {entry.name: (entry.judged, entry.all_answers[number].points) for entry in RUNNABLE}

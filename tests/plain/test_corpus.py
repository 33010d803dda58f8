"""Test cells in the styles that people use: most are judged outside, with the points of one process."""

from functools import cache

import pytest

from autograder.assignment.assignment import Assignment
from autograder.model.limits import Limits
from tests.plain import one_process
from tests.plain.entries import Entry, entries, notebook
from tests.plain.tiny import assignment, graded

RUNNABLE = [entry for entry in entries() if entry.can_run]
MOST = max(len(entry.answers) for entry in RUNNABLE)
LIMITS = Limits(cell_seconds=30, submission_seconds=300)


def test_of_the_corpus_85_percent_are_judged_outside():
    assert sum(entry.judged == "outside" for entry in entries()) / len(entries()) >= 0.85


@pytest.mark.parametrize("entry", [one for one in RUNNABLE if not one.only_ipython], ids=lambda entry: entry.name)
def test_in_one_process_every_answer_has_the_points_that_the_corpus_says(entry: Entry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = entry.test, entry.points
    points = {answer.source: answer.points for answer in (*entry.all_answers, *entry.odd)}
    assert {answer: one_process.points(entry.setup, answer, test) for answer in points} == points


@cache
def corpus() -> Assignment:
    """It is calibrated once."""
    return assignment(*notebook(RUNNABLE).cells)


@pytest.mark.slow
@pytest.mark.xdist_group("corpus")
@pytest.mark.parametrize("number", range(MOST + 1), ids=lambda number: f"answers {number}" if number else "solutions")
def test_every_test_cell_is_judged_where_it_should_be_and_gives_the_points_of_one_process(number: int):
    """In real kernels, the corpus as one notebook. An entry with fewer answers gets its last."""
    chosen = {entry: entry.all_answers[min(number, len(entry.answers))] for entry in RUNNABLE}
    answers = {f"{entry.name}_answer": answer.source for entry, answer in chosen.items()}
    found = {cell.cell: cell for cell in graded(corpus(), answers, limits=LIMITS).verdict.notebooks[0].cells}
    assert {name: cell.judged for name, cell in found.items()} == {entry.name: entry.judged for entry in chosen}
    waits = {entry.name for entry, answer in chosen.items() if answer.points < entry.points} & {
        name for name, cell in found.items() if cell.points is None
    }
    assert {name: cell.points for name, cell in found.items() if name not in waits} == {
        entry.name: answer.points for entry, answer in chosen.items() if entry.name not in waits
    }

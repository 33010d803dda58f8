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


@pytest.mark.slow
@pytest.mark.xdist_group("corpus")
def test_of_right_answers_in_odd_styles_nine_of_ten_pass_without_doubt_and_the_rest_waits():
    """``pytest -s ... -k odd`` prints them. One draws 15,400 of the test's numbers: a busy machine may cut it off."""
    found: dict[tuple[str, int], tuple[float | None, float, str]] = {}
    for number in range(max(len(entry.odd) for entry in RUNNABLE)):
        chosen = {entry.name: entry.odd[number] for entry in RUNNABLE if number < len(entry.odd)}
        done = graded(corpus(), {f"{name}_answer": answer.source for name, answer in chosen.items()}, limits=LIMITS)
        cells = (cell for cell in done.verdict.notebooks[0].cells if cell.cell in chosen)
        found |= {(one.cell, number): (one.points, chosen[one.cell].points, one.refused or one.status) for one in cells}
    waiting = {place: why for place, (points, most, why) in found.items() if points != most}
    said = f"{len(found) - len(waiting)} of {len(found)} answers to {len({name for name, _ in found})} cells"
    print(said, *(f"{name}, {number}: {why}" for (name, number), why in waiting.items()), sep="\n")
    lost = [place for place, why in waiting.items() if found[place][0] is not None and why != "timeout"]
    assert lost == [] and 10 * len(waiting) <= len(found) >= 300 and len({name for name, _ in found}) >= 120

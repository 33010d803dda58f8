"""An endless loop costs what it is in, and not the class's evening."""

from types import SimpleNamespace

import nbformat
import pytest

from autograder.model.limits import Clock, Limits
from autograder.model.verdict import NotebookVerdict
from autograder.pipeline.execute import CellOutcome, ExecutedNotebook, PartOutcome, run
from autograder.pipeline.outcomes import limits_of, pace_path, record_pace, seconds_of
from autograder.release import verify as release
from tests.grading import kernels

LIMITS = Limits(cell_seconds=40.0)


TIMED = {"softmax": 10.0, "training": 60.0}


@pytest.mark.parametrize(
    ("timeouts", "cells", "cell", "limit"),
    [
        (0, TIMED, "softmax", 10.0),
        (0, TIMED, "training", 40.0),  # never more than is given to any cell
        (0, TIMED, "extra-softmax-0", 40.0),  # as the slowest, where nobody knows
        (0, {}, "softmax", 40.0),
        (5, {"softmax": 1.0}, "softmax", 1.0),  # a short limit is never made longer
        *((number, TIMED, "softmax", limit) for number, limit in enumerate([10.0, 10.0, 5.0, 2.5, 2.0, 2.0, 2.0])),
    ],
)
def test_a_cell_has_a_limit_of_its_own_and_after_two_time_outs_a_notebook_has_less_patience(
    timeouts, cells, cell, limit
):
    clock = Clock(LIMITS, cells)
    for _ in range(timeouts):
        clock.timed_out(1.0)
    assert clock.limit(cell) == limit


def test_the_solution_s_time_makes_the_limit_in_few_steps(tmp_path):
    record_pace(tmp_path, "toy", {"1_one": {"quick": 0.004, "middling": 0.9, "slow": 2.4, "endless": 100.0}})
    found = limits_of(tmp_path, "toy", 60.0)
    assert found == {"1_one": {"quick": 10.0, "middling": 20.0, "slow": 60.0, "endless": 60.0}}


@pytest.mark.parametrize("text", ["", "[]", '{"1_one": 3}', '{"1_one": {"a": "b"}}'])
def test_a_note_that_cannot_be_read_leaves_the_usual_limits(tmp_path, text):
    path = pace_path(tmp_path, "toy")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert limits_of(tmp_path, "toy", 60.0) == {}


def test_release_notes_what_the_solution_took(tmp_path, monkeypatch):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", id="softmax")])
    ran = ExecutedNotebook(
        notebook, [CellOutcome(0, PartOutcome("ok", seconds=0.5), PartOutcome("ok", seconds=1.5))], tmp_path
    )
    verdict = NotebookVerdict("solution", "toy", "1_one", ())
    monkeypatch.setattr(release, "run_all", lambda *given: iter([("1_one", ran, verdict)]))
    monkeypatch.setattr(release, "_unexpected", lambda *given: iter(()))
    monkeypatch.setattr(release, "solved", lambda assignment: None)
    executed: dict[str, ExecutedNotebook] = {}
    toy = SimpleNamespace(name="toy")
    assert list(release._solved(toy, None, Limits(), executed)) == []
    assert {name: seconds_of(one) for name, one in executed.items()} == {"1_one": {"softmax": 1.5}}


def run_cells(folder, *sources: str, **limits: object) -> list[PartOutcome]:
    """What became of each cell; the ids are cell0, cell1 and so on."""
    cells = [nbformat.v4.new_code_cell(source, id=f"cell{number}") for number, source in enumerate(sources)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    ran = run(notebook, files={}, inputs={}, answers=folder, kernels=kernels(), **limits)
    return [outcome.visible for outcome in ran.outcomes]


@pytest.mark.slow
def test_right_answers_count_beside_endless_loops_that_take_more_than_the_notebook_s_time(tmp_path):
    limits = Limits(cell_seconds=0.5, submission_seconds=1.5)
    outcomes = run_cells(tmp_path, *4 * ["while True: pass"], "'right'", limits=limits)
    assert [outcome.status for outcome in outcomes] == ["timeout"] * 4 + ["ok"]


@pytest.mark.slow
def test_a_loop_ends_at_its_cell_s_own_limit(tmp_path):
    (outcome,) = run_cells(tmp_path, "while True: pass", cell_limits={"cell0": 0.3})
    assert (outcome.status, outcome.evalue) == ("timeout", "the cell took longer than 0.3 s")

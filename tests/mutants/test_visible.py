"""What the visible check says is set beside what grading says: ✓ where points are lost, ✗ at full points."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.authoring.trial import Tried
from autograder.model.verdict import CellVerdict, Check
from autograder.mutants.outcome import Outcome, graded_outcome
from autograder.mutants.rows import Survey, row
from tests.mutants.test_operators import part

PASSED = CellVerdict("a", "passed", 2.0, 2.0, ())
FAILED = CellVerdict("a", "failed", 0.0, 2.0, (Check("a", False, "The sums are not 1.", "", ""),))


@pytest.mark.parametrize(("verdict", "kind"), [(PASSED, "passed"), (FAILED, "property")])
@pytest.mark.parametrize("said", ["", "CheckFailed: a: no"])
def test_an_outcome_keeps_what_the_visible_check_of_the_cell_said(verdict: CellVerdict, kind: str, said: str) -> None:
    found = graded_outcome(Tried({"a": verdict}, {"a": said}), True, 0.1)
    assert (found.kind, found.visible) == (kind, said)


def test_a_tick_for_lost_points_and_a_cross_at_full_points_are_counted_apart() -> None:
    outcomes = [
        Outcome("named", visible="no"),
        Outcome("values", ticked=True),
        Outcome("values"),  # a question: its check says neither
        Outcome("equivalent", visible="no"),
        Outcome("accepted", visible="no"),
        Outcome("equivalent"),
    ]
    found = row("a", outcomes)
    assert (found.ticked, found.refused) == (1, 2)


def test_a_survey_lists_what_a_visible_check_refuses_at_full_points() -> None:
    from autograder.mutants.generate import mutants

    first, second, third = mutants(part("def f(x):\n    return 2 * x\n"))[:3]
    same = Outcome("equivalent")
    outcomes = {first.id: same, second.id: replace(same, visible="no"), third.id: Outcome("named", visible="no")}
    assert [one.id for one, _ in Survey([first, second, third], outcomes).refused] == [second.id]

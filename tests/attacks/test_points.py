"""No submission earns points for what nobody computed; none stops the judge."""

from __future__ import annotations

import nbformat
import pytest

from autograder.assignment.submission import Submission
from autograder.model import cells
from autograder.model.verdict import NotebookVerdict
from autograder.pipeline.execute import Limits
from autograder.pipeline.grade import grade_submission as grade
from tests.attacks.points import ATTACKS, PointsAttack
from tests.grading import alone_with, assignment, exercises_alone, kernels

pytestmark = pytest.mark.xdist_group("attacks")


def graded(attack: PointsAttack) -> NotebookVerdict:
    """The verdict on the released notebook with the attack's cells in it, exercises only."""
    source, release = exercises_alone(attack.assignment, attack.notebook, attack.answers.values())
    student = nbformat.from_dict(release)
    for cell in student.cells:
        if cells.grade_id(cell) in attack.answers:
            cell.source = attack.answers[cells.grade_id(cell)]
    alone = alone_with(assignment(attack.assignment), attack.notebook, source, release)
    sent = Submission("student", {attack.notebook: nbformat.writes(student).encode()}, {}, ())
    return grade(sent, alone, kernels(), Limits(cell_seconds=20)).verdict.notebooks[0]


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.id for attack in ATTACKS])
def test_an_attack_on_points_earns_what_it_knows_and_costs_nobody_the_grade(attack: PointsAttack) -> None:
    verdict = graded(attack)
    earned = {cell.cell: cell.points for cell in verdict.cells if cell.status != "manual" and cell.points}
    assert earned == attack.earns
    assert verdict.status != "infrastructure"

"""Who asks about one notebook waits for it and those before it, and is told what a run of them all would tell."""

import pytest

from autograder.assignment.assignment import Assignment
from autograder.model.limits import Limits
from autograder.model.verdict import Graded
from autograder.pipeline import explanation as appeal
from autograder.pipeline.grade import grade_submission
from tests.grading import kernels
from tests.pipeline.chain import BASE, LAST, NOTEBOOKS, TWICE, chain, submitted

pytestmark = pytest.mark.slow

LIMITS = Limits(cell_seconds=20)
#: The second answer is right, were it not for the first, and is not charged for it.
ANSWERS = {BASE: "def base(x): return x", TWICE: "def twice(x): return 2 * x"}


@pytest.fixture(scope="module")
def assignment(tmp_path_factory) -> Assignment:
    return chain(tmp_path_factory.mktemp("chain") / "course")


def points(graded: Graded) -> dict[str, float | None]:
    return {cell.cell: cell.points for one in graded.verdict.notebooks for cell in one.cells}


@pytest.mark.parametrize("last", [BASE, TWICE, LAST])
def test_up_to_a_notebook_all_is_as_if_every_notebook_were_run(assignment, last):
    submission, ran = submitted(assignment, ANSWERS), []
    whole = points(grade_submission(submission, assignment, kernels(), LIMITS))
    part = grade_submission(submission, assignment, kernels(), LIMITS, lambda name, _: ran.append(name), last=last)
    assert ran == [one.notebook for one in part.verdict.notebooks] == list(NOTEBOOKS[: NOTEBOOKS.index(last) + 1])
    assert whole == {"base": 0, "twice": 2, "plain": 1, "last": 1}
    assert points(part) == {name: whole[name] for name in points(part)}


def test_an_appeal_runs_no_later_notebook(assignment, monkeypatch):
    graded: list[Graded] = []

    def noted(*given, **named) -> Graded:
        graded.append(grade_submission(*given, **named))
        return graded[-1]

    monkeypatch.setattr(appeal, "grade_submission", noted)
    heard = appeal.explain_exercise(submitted(assignment, ANSWERS), assignment, kernels, LIMITS, "twice")
    assert (heard.notebook, heard.verdict.points, len(heard.cases)) == (TWICE, 2, 2)
    assert [one.notebook for one in graded[0].verdict.notebooks] == [BASE, TWICE]

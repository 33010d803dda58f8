"""How answers to questions on one's own code are graded: in the released notebook, through all stages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from autograder.assignment.submission import Submission
from autograder.exercise.asking import find
from autograder.exercise.own_code import MAX_PARTS
from autograder.exercise.questions import questions, right_choice
from autograder.model import cells
from autograder.model.verdict import CellVerdict
from autograder.pipeline import own_code
from autograder.pipeline.execute import Limits
from autograder.pipeline.grade import grade_submission
from autograder.pipeline.judge_questions import ASKED_NOTHING
from autograder.pipeline.running import Runs
from autograder.pipeline.stored_runs import StoredRun
from tests.grading import assignment, cell_of, filled, kernels
from tests.questions.block import CODE, A, N, answers_to, facts, graded, ordinary, other, sources, with_points

pytestmark = pytest.mark.slow


def test_three_right_answers_give_all_points_two_half_and_fewer_none() -> None:
    right = answers_to(ordinary())
    assert graded({"own_code_answer": right}).points == 2
    one = answers_to(ordinary(), shape="(1, 1)")
    found = graded({"own_code_answer": one})
    assert found.points == 1
    wrong = [check for check in found.checks if not check.passed]
    assert [check.name for check in wrong] == ["shape"]
    assert "You chose '(1, 1)'; right is" in wrong[0].message and wrong[0].hint.startswith("Line ")
    assert graded({"own_code_answer": answers_to(ordinary(), shape="(1, 1)", without="line 1: x")}).points == 0


def test_as_shipped_the_questions_have_no_points() -> None:
    shipped = next(cell for cell in assignment(A).source[N].cells if cells.grade_id(cell) == "own_code")
    assert cells.max_points(shipped) == 0


def test_code_in_another_style_is_asked_about_itself_and_wrong_code_too() -> None:
    assert graded({CODE: other(), "own_code_answer": answers_to(other())}).points == 2
    wrong = ordinary().replace("/ math.sqrt(q.shape[-1])", "* 3")
    assert wrong != ordinary()
    assert graded({CODE: wrong, "own_code_answer": answers_to(wrong)}).points == 2


def test_anothers_answers_earn_nothing_and_a_changed_code_is_noted() -> None:
    found = graded({CODE: other(), "own_code_answer": answers_to(ordinary())})
    assert found.points == 0
    assert any("has changed since" in check.message for check in found.checks)


def test_without_answers_there_are_no_points_and_the_reason_is_said() -> None:
    found = graded({"own_code_answer": "own_code = {}"})
    assert found.points == 0 and "token" in found.checks[0].message


def test_code_that_does_not_run_gets_no_points_for_nothing_asked() -> None:
    found = graded({CODE: "class AttentionBlock(nn.Module):\n    pass", "own_code_answer": "own_code = {}"})
    assert (found.status, found.points) == ("failed", 0)


def test_code_of_which_nothing_can_be_asked_is_for_a_person() -> None:
    code = ordinary().replace("class AttentionBlock(", "class Whole(")
    code += "\n\nclass AttentionBlock(Whole):\n    pass\n"
    found = graded({CODE: code, "own_code_answer": "own_code = {}"})
    assert (found.status, found.points, found.checks[0].name) == ("manual", None, ASKED_NOTHING)


def test_code_that_looks_how_it_is_run_is_for_a_person() -> None:
    code = ordinary().replace("        scores = self", "        what.stack()\n        scores = self", 1)
    assert "what.stack()" in code
    code = f"import inspect as what\n\n{code}"
    found = graded({CODE: code, "own_code_answer": answers_to(ordinary())})
    assert (found.status, found.points) == ("manual", None) and "'inspect'" in found.checks[0].message


def test_an_import_that_the_code_does_not_use_is_no_reason_to_ask_nothing() -> None:
    code = f"import inspect\nfrom pathlib import Path\n\n{ordinary()}"
    assert graded({CODE: code, "own_code_answer": answers_to(code)}).points == 2


#: Without "n += 1", which stands after the line that makes the weights and runs before it, this never ends.
ENDLESS = """

    def attend(self, scores):
        return scores.softmax(dim=-1)

    def settle(self, x):
        n = 0
        while n < 1:
            n += 1
        return x
"""


def test_code_of_which_a_part_left_out_never_ends_is_for_a_person() -> None:
    code = ordinary().replace("scores.softmax(dim=-1)", "self.attend(self.settle(scores))") + ENDLESS
    assert "self.settle(" in code
    answers = answers_to(ordinary(), random="00000004")
    found = graded({CODE: code, "own_code_answer": answers})
    assert (found.status, found.points) == ("manual", None) and "did not come to its end" in found.checks[0].message
    assert found.checks[0].name == ASKED_NOTHING  # the report lists it


def test_only_the_parts_are_left_out_that_the_token_asks_about() -> None:
    found, known = find(sources(ordinary()), "AttentionBlock"), facts(ordinary())
    asked = import_module(f"course.check.{A}").questions
    assert found is not None and len(known.lost) > MAX_PARTS
    for random in ("0badcafe", "12345678", "deadbeef"):
        few = asked.facts_of(sources(ordinary()), {"attention_block": "AttentionBlock"}, random)
        assert len(few.lost) <= MAX_PARTS and few.lost.items() <= known.lost.items()
        one = next(one for one in questions(found, known, random) if one.kind == "without")
        assert right_choice(one, found, few) == right_choice(one, found, known) != ""


@pytest.fixture
def kernels_of_questions(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is laid out for every kernel that is started to run a student's code for questions."""
    started: list[list[str]] = []

    class Noted(own_code.StudentKernel):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            started.append(sorted(arguments[3]))
            super().__init__(*arguments, **named)

    monkeypatch.setattr(own_code, "StudentKernel", Noted)
    return started


def test_without_points_the_code_is_run_only_of_who_answered(kernels_of_questions: list[list[str]]) -> None:
    unanswered = graded({"own_code_answer": "own_code = {}"}, points=0)
    assert not kernels_of_questions and [check.name for check in unanswered.checks] == ["token"]
    answered = graded({"own_code_answer": answers_to(ordinary())}, points=0)
    assert len(kernels_of_questions) == 1 and answered.status == "passed"


def test_questions_that_get_points_are_run_for_then_and_other_points_are_judged(
    kernels_of_questions: list[list[str]],
) -> None:
    before, counts, found = dict[str, StoredRun](), list[int](), list[CellVerdict]()
    for points in (0, 2, 3):
        opened, runs = with_points(points), Runs("this machine", before)
        data = filled(A, N, {"own_code_answer": "own_code = {}"}, opened.release[N])
        submission = Submission("student", {N: data}, {}, ())
        graded_now = grade_submission(submission, opened, kernels(), Limits(), runs=runs)
        assert runs.now is not None
        before = dict(runs.now.runs)
        found.append(cell_of(graded_now.verdict.notebooks[0], "own_code"))
        counts.append(len(kernels_of_questions))
    assert counts == [0, 1, 1] and [(one.points, one.max_points) for one in found] == [(0, 0), (0, 2), (0, 3)]


def test_the_code_is_run_without_the_notebooks_beside_it(kernels_of_questions: list[list[str]]) -> None:
    """What it takes from an earlier notebook is ready-made then: questions do not depend on what is written there."""
    assert graded({"own_code_answer": answers_to(ordinary())}).points == 2
    (laid_out,) = kernels_of_questions
    assert laid_out == [name for name in laid_out if not name.endswith(".ipynb")]

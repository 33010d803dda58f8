"""How answers to questions on one's own code are graded: in the released notebook, through all stages."""

from importlib import import_module
from typing import Any

import pytest

from autograder.assignment.submission import Submission
from autograder.exercise.asking import find
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
from tests.questions.block import CODE, A, N, answers_to, facts, graded, masked, ordinary, other, sources, with_points

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
    assert graded({"own_code_answer": answers_to(ordinary(), shape="(1, 1)", becomes="line 1")}).points == 0


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


#: To whose questions the answers are, who hands them in, in which group -> verdict, points, and what is said.
HANDED_IN = {
    "one's own": ("ada", "ada", {}, "passed", 2, ""),
    "another student's": ("bob", "ada", {}, "manual", None, "questions of 'bob'; this is the submission of 'ada'."),
    "another's with one's own id in it": ("bob", "ada", {}, "failed", 0, "has changed since"),
    "a group mate's": ("bob", "ada", {"ada": ("bob",)}, "passed", 2, ""),
    "of another group": ("bob", "ada", {"ada": ("cy",)}, "manual", None, "the submission of 'ada' and 'cy'"),
    "typed on a Mac": ("Rene\u0301", "ren\u00e9", {}, "passed", 2, ""),
    "in a folder from a Mac": ("ren\u00e9", "rene\u0301", {}, "passed", 2, ""),
    "where nobody knows who hands in": ("bob", "repository", None, "passed", 2, "Nobody checked"),
}


@pytest.mark.parametrize("name", HANDED_IN)
def test_answers_count_for_who_was_asked(name: str) -> None:
    written, student, mates, status, points, words = HANDED_IN[name]
    answers = answers_to(ordinary(), written)
    answers = answers.replace("'bob'", "'ada'") if "one's own id in it" in name else answers
    found = graded({"own_code_answer": answers}, student=student, mates=mates)
    assert (found.status, found.points) == (status, points)
    assert words in " ".join(f"{check.message} {check.hint}" for check in found.checks)
    assert not any("bob" in check.message or "ada" in check.message for check in found.checks)  # pages without names


@pytest.mark.parametrize(("points", "status", "earned"), [(2, "manual", None), (0, "failed", 0)])
def test_of_answers_by_a_token_nobody_knows_whose_they_are(points: float, status: str, earned: float | None) -> None:
    old = answers_to(ordinary()).replace("'student': 'student', 'asked'", "'token'")
    found = graded({"own_code_answer": old}, points)
    assert (found.status, found.points) == (status, earned) and "earlier version" in found.checks[0].message
    assert graded({"own_code_answer": answers_to(ordinary(), "bob")}, points).points == earned


def test_without_answers_there_are_no_points_and_the_reason_is_said() -> None:
    found = graded({"own_code_answer": "own_code = {}"})
    assert found.points == 0 and "No answers" in found.checks[0].message


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
        return scores.masked_fill(scores.isfinite().triu(1), -1e9).softmax(dim=-1)

    def settle(self, x):
        n = 0
        while n < 1:
            n += 1
        return x
"""


def test_code_of_which_a_part_left_out_never_ends_is_for_a_person() -> None:
    code = ordinary().replace("scores.softmax(dim=-1)", "self.attend(self.settle(scores))") + ENDLESS
    assert "self.settle(" in code
    found = graded({CODE: code, "own_code_answer": answers_to(ordinary())})
    assert (found.status, found.points) == ("manual", None) and "did not come to its end" in found.checks[0].message
    assert found.checks[0].name == ASKED_NOTHING  # the report lists it


def test_only_the_parts_are_left_out_that_the_student_is_asked_about() -> None:
    found, known = find(sources(masked()), "AttentionBlock"), facts(masked())
    asked = import_module(f"course.check.{A}").questions
    assert found is not None and known.lost
    for student in ("ada", "bob", "cy"):
        few = asked.facts_of(sources(masked()), {"attention_block": "AttentionBlock"}, student)
        one = next(one for one in questions(found, known, student) if one.kind == "without")
        assert few.lost == [right_choice(one, found, known)] == [right_choice(one, found, few)]


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
    assert not kernels_of_questions and [check.name for check in unanswered.checks] == ["student"]
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

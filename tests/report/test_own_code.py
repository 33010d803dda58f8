"""What the report says of questions on students' own code."""

from __future__ import annotations

from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, SubmissionVerdict
from autograder.pipeline.judge_questions import ASKED_NOTHING
from autograder.report.code import Answer
from autograder.report.page import asked_nothing, same_tokens


def _answer(student: str, token: str) -> Answer:
    return Answer(student, "own_code_answer", f'own_code = {{"token": "{token}", "shape": "(2, 3)"}}', "")


def test_q37_equal_tokens_are_listed_whatever_code_they_belong_to() -> None:
    answers = [
        _answer("ada", "0badcafe-11111111"),
        _answer("bob", "0badcafe-22222222"),
        _answer("cy", "1badcafe-11111111"),
    ]
    assert same_tokens(answers) == [("own_code_answer", ("ada", "bob"))]
    assert same_tokens(answers[1:]) == []


def test_q37_code_that_was_asked_nothing_is_listed_with_the_reason() -> None:
    cell = CellVerdict("own_code", "manual", None, 2, (Check(ASKED_NOTHING, False, "your code names 'sys'"),))
    right = CellVerdict("own_code", "passed", 2, 2, (Check("shape", True),))
    verdicts = [
        SubmissionVerdict(student, "a", (NotebookVerdict(student, "a", "n", (one,)),))
        for student, one in (("ada", cell), ("bob", right))
    ]
    assert asked_nothing(verdicts) == [("own_code", "ada", "your code names 'sys'")]

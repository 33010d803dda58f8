"""Answers that are chosen: how a choice is read, and what a list, a text or nothing at all earns."""

import pytest

from autograder.exercise import (
    TEXT,
    Answers,
    Case,
    ChoiceQuestion,
    Exercise,
    Judgement,
    Mistake,
    all_choices,
    choices,
    text_array,
)

OTHERWISE = "{chosen} is none of them."
KINDS = [
    ChoiceQuestion("kinds", "statement 1", ("no mask",), {"a mask": "There is one."}, OTHERWISE),
    ChoiceQuestion("kinds", "statement 2", ("a mask",), {"no mask": "NONE"}, OTHERWISE, "Look."),
]
NAMES = [ChoiceQuestion("name", "name", ("tokenizer", "encode"), {"bert": "MODEL"}, OTHERWISE, "Look.", in_words=True)]
MISTAKES = [Mistake("NONE", "There is none.", "Count."), Mistake("MODEL", "That is the model.", "Read.")]


def judged(rule, questions: list[ChoiceQuestion], given: object) -> Judgement:
    exercise = Exercise(lambda generator: [], rule, MISTAKES, questions=questions)
    arrays = {} if given is None else {TEXT + question.answer: text_array(given) for question in questions}
    return rule(exercise, Case(), Answers(arrays))


@pytest.mark.parametrize(
    ("given", "shared", "whole", "told"),
    [
        (["no mask", "a mask"], 1, 1, []),
        ([" No Mask. ", "(a mask)"], 1, 1, []),
        (["a mask", "a mask"], 0.5, 0, [("", "There is one.", "")]),
        (["no mask", "no mask"], 0.5, 0, [("NONE", "There is none.", "Count.")]),
        (["no mask", "two masks"], 0.5, 0, [("", "'two masks' is none of them.", "Look.")]),
        (["no mask"], 0, 0, [("", "Expected a list of 2 answers.", "One for each statement.")]),
        ("no mask", 0, 0, [("", "Expected a list of 2 answers.", "One for each statement.")]),
        (None, 0, 0, [("", "Expected a list of 2 answers.", "One for each statement.")]),
    ],
)
def test_a_list_of_choices_is_judged_one_by_one(given: object, shared: float, whole: float, told: list) -> None:
    judgement = judged(choices, KINDS, given)
    assert (judgement.earned, judged(all_choices, KINDS, given).earned) == (shared, whole)
    assert [(one.mistake, one.message, one.hint) for one in judgement.checks if not one.passed] == told


@pytest.mark.parametrize(
    ("given", "earned", "mistake"),
    [
        ("self.tokenizer.encode(text)", 1, ""),
        ("the tokenizer of BERT", 0, "MODEL"),  # whoever names both has not chosen
        ("numpy", 0, ""),
        ("tokenizer" + 200 * " ", 0, ""),
        (["tokenizer"], 0, ""),
        (None, 0, ""),
    ],
)
def test_a_name_may_stand_among_other_words(given: object, earned: float, mistake: str) -> None:
    judgement = judged(choices, NAMES, given)
    assert (judgement.earned, judgement.checks[0].mistake) == (earned, mistake)


@pytest.mark.parametrize("rule", [choices, all_choices])
def test_where_nothing_is_asked_nothing_is_earned(rule) -> None:
    assert judged(rule, [], "anything").earned == 0

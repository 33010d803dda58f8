"""Token ids turned back into tokens."""

from __future__ import annotations

import json

import numpy as np

from autograder.exercise import TEXT, Answers, Case, Exercise, Judgement, Mistake, compare_case, named, text_array

from .._sentences import SENTENCES, tokens_of


def make(generator: np.random.Generator) -> list[Case]:
    drawn = [101, 102]
    while not any(word.startswith("##") for word in tokens_of(drawn)):  # pieces of words tell how their marks are kept
        drawn = [101, *generator.integers(2000, 29000, 9).tolist(), 102]
    drawn[10:10] = drawn[1:9]  # every id has its token, also those that come twice, and whatever their number
    return [
        Case({}, {"input_ids": np.array([ids])}, expected={TEXT + "tokens": text_array(tokens_of(ids))})
        for ids in (SENTENCES[1], drawn)
    ]


def _expected(case: Case) -> list[str]:
    words: list[str] = json.loads(case.expected[TEXT + "tokens"].tobytes().decode())
    return words


MISTAKES = [
    Mistake(
        "M17-nested",
        "The tokens are wrapped in one list too many.",
        "input_ids has a batch axis; a sentence is one row of it.",
        lambda case: {TEXT + "tokens": text_array([_expected(case)])},
    ),
    Mistake(
        "M17-special",
        "[CLS] and [SEP] are missing.",
        "They are tokens like the others: every id has its token.",
        lambda case: {TEXT + "tokens": text_array([w for w in _expected(case) if w not in ("[CLS]", "[SEP]")])},
    ),
    Mistake(
        "M17-sentence",
        "This is one sentence; what is asked for is a list with one token per id.",
        "Decoding joins the word pieces; look for a method that converts ids one by one.",
        lambda case: {TEXT + "tokens": text_array(" ".join(_expected(case)))},
    ),
    Mistake("M17-count", "{ids} ids came in, {tokens} tokens went out.", "Every id has its token, and no other."),
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    judgement = compare_case(exercise, case, answers)
    said = answers.text("tokens")
    if judgement.earned < 1 and isinstance(said, str):
        return named(exercise, "M17-sentence")
    unknown = judgement.earned < 1 and not any(check.mistake for check in judgement.checks)
    if unknown and isinstance(said, list) and len(said) != len(_expected(case)):
        return named(exercise, "M17-count", tokens=len(said), ids=len(_expected(case)))
    return judgement


EXERCISE = Exercise(make, judge, MISTAKES, framework="torch")

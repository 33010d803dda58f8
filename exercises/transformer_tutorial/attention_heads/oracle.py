"""``DotProductAttention`` with several heads: folding them into the batch, and unfolding them again."""

from __future__ import annotations

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Exercise,
    Judgement,
    better_of_own_and_ready,
    not_charged_twice,
    right,
    wrong,
)

from .._attention_cases import draw, known
from .._attention_rules import OUTPUT, SCORES, fits, follows_from_earlier, with_scores, wrong_shape
from .._dot_products import WRONG_HEADS, AttentionVariant


def make(generator: np.random.Generator) -> list[Case]:
    return [draw(generator, 2, 5, 3, 4), draw(generator, 3, 2, 4, 5)]


MISTAKES = [
    known("M5",
          "The heads are folded into the batch by view alone: a row of the batch mixes numbers of several tokens.",
          "In which order must the axes stand before b and h can become one?", WRONG_HEADS["M5"]),
    known("M5-both", "Heads were folded and unfolded by view alone: each row of the batch mixes several tokens.",
          "In which order must the axes stand before b and h can become one?", WRONG_HEADS["M5-both"]),
    known("M5-inter", "The last two axes were taken for (k, h); they are (h, k).",
          "Print the shape of queries before the first step.", WRONG_HEADS["M5-inter"]),
    known("M5-first", "Folded as (h, b), but unfolded as (b, h): the heads of different sentences were exchanged.",
          "Fold and unfold must agree on which of the two axes comes first.", WRONG_HEADS["M5-first"]),
    known("M6", "The heads were unfolded without being moved back behind the tokens.",
          "Exchange the head axis and the token axis before the last two axes become one.", WRONG_HEADS["M6"]),
    known("M6-inter", "In the output the heads are interleaved: number by number, not one head after the other.",
          "The last axis is (h, k), in this order.", WRONG_HEADS["M6-inter"]),
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    problem = wrong_shape(answers, case.expected["output"])
    if problem:
        return Judgement([problem])
    if fits(case, answers, [AttentionVariant()]):
        return right("heads")
    for mistake in exercise.mistakes:
        if fits(case, answers, with_scores(mistake.variant)):
            return mistake.judgement()
    return wrong(
        "heads",
        "With several heads the output is not what each head gives by itself.",
        "Fold, attend, unfold: follow one number of head 1 through every step.",
    )


RULE = better_of_own_and_ready(not_charged_twice(judge, (SCORES, OUTPUT), follows_from_earlier, "heads"))
EXERCISE = Exercise(make, RULE, MISTAKES, framework="torch")

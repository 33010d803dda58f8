"""From scores to the output of ``DotProductAttention``, with one head: softmax over the keys, then the weighted sum."""

from __future__ import annotations

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    better_of_own_and_ready,
    named,
    not_charged_twice,
    right,
    without_side_effects,
    wrong,
)

from .._attention_cases import draw, known, torch_attention
from .._attention_rules import SCORES, fits, follows_from_earlier, with_scores, wrong_shape
from .._dot_products import WRONG_WEIGHTS, AttentionVariant


def make(generator: np.random.Generator) -> list[Case]:
    """One head; the last case has scores in the thousands, of whole numbers, so that rounding plays no part."""
    cases = [draw(generator, 2, 5, 1, 7), draw(generator, 3, 4, 1, 6)]
    inputs = {name: (40 * generator.integers(-9, 10, (2, 5, 1, 7))).astype(np.float32) for name in ("queries", "keys")}
    inputs["values"] = generator.integers(-9, 10, (2, 5, 1, 7)).astype(np.float32)
    return [*cases, Case({}, inputs, expected={"output": torch_attention(**inputs)})]


MISTAKES = [
    known("M1", "Each query's weights must sum to 1 over the keys; yours sum to 1 over the queries.",
          "Is the softmax told which axis to use?", WRONG_WEIGHTS["M1"]),
    known("M1-batch", "The softmax runs over the batch: the sentences of a batch share their weights.",
          "Is the softmax told which axis to use?", WRONG_WEIGHTS["M1-batch"]),
    known("M1-none", "The values were mixed with the raw scores: no softmax was applied.",
          "Scores become weights by a softmax.", WRONG_WEIGHTS["M1-none"]),
    known("M1-twice", "The softmax was applied twice.", "Once is enough.", WRONG_WEIGHTS["M1-twice"]),
    known("M9-late", "The softmax came after the values: each output sums to 1, and no weights were made.",
          "First the weights, then the weighted sum.", WRONG_WEIGHTS["M9-late"]),
    known("M4-transposed", "The weights were transposed before they met the values.",
          "Row i of the weights belongs to query i and mixes the values of all keys.", WRONG_WEIGHTS["M4-transposed"]),
    Mistake("M1-overflow", "Large scores give nan or inf.",
            "torch's own softmax subtracts the largest score first; exp alone overflows."),
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    problem = wrong_shape(answers, case.expected["output"])
    if problem:
        return Judgement([problem])
    if not np.isfinite(answers.arrays["output"]).all():
        return named(exercise, "M1-overflow")
    if fits(case, answers, [AttentionVariant()]):
        return right("output")
    for swapped in (False, True):  # transposed weights are also those of swapped scores over the wrong axis
        for mistake in exercise.mistakes:
            candidates = with_scores(mistake.variant) if mistake.variant else ()
            if fits(case, answers, (variant for variant in candidates if variant.swapped == swapped)):
                return mistake.judgement()
    return wrong(
        "output",
        "The output is not the values, mixed by the weights of each query.",
        "Which axis of the weights runs over the keys, and which axis of the values does?",
    )


RULE = better_of_own_and_ready(not_charged_twice(judge, (SCORES,), follows_from_earlier, "output"))
RULE = without_side_effects(RULE, unless=(SCORES,))
EXERCISE = Exercise(make, RULE, MISTAKES, framework="torch")

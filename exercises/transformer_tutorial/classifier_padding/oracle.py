"""What ``Transformer.forward`` does with padding: half of the points for the average over real tokens, half for
telling every block which tokens are padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    compare_value,
    named,
    not_charged_twice,
    shared_equally,
)

from .._classifier import FORWARD, ClassifierVariant, draw, fits
from ..classifier_forward.oracle import FORWARD_MISTAKES


def make(generator: np.random.Generator) -> list[Case]:
    return [draw(generator, 3, 5, 6, 4, (5, 2, 3)), draw(generator, 4, 7, 8, 2, (1, 7, 4, 5))]


MISTAKES = [
    Mistake("M15-padding", "The average still counts padding.",
            "Only real tokens count, above and below the fraction bar.", share=0.5),
    Mistake("M10-unsaid", "The blocks were not told which tokens are padding.",
            "A block takes two arguments: the states, and the mask (true for a real token).", share=0.5),
    Mistake("M10-inverted", "The blocks got the mask the wrong way round.", "True marks a real token.", share=0.5),
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    return shared_equally([*average(exercise, case, answers).checks, _check_masks(exercise, case, answers)])


def _judge_average(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got, want = answers.arrays.get("log_probabilities"), case.expected["log_probabilities"]
    check = compare_value("average", got, want, exercise)
    if not check.passed and got is not None and got.shape == want.shape:
        padded = [variant for pool in ("all", "length") for variant in _pooled(pool)]
        if any(fits(case, got, variant) for variant in padded):
            return named(exercise, "M15-padding")
    return Judgement([check])


def _follows(case: Case, answers: Answers) -> bool:
    got = answers.arrays.get("log_probabilities")
    return got is not None and any(fits(case, got, variant) for variant in _pooled("real"))


#: The average is judged without the known mistakes of the forward pass, where these had their price.
average = not_charged_twice(_judge_average, (FORWARD,), _follows, "average")


def _pooled(pool: str) -> Iterator[ClassifierVariant]:
    """One kind of pooling with each known mistake of the forward pass, and with none."""
    yield ClassifierVariant(pool=pool)
    for mistake in FORWARD_MISTAKES:
        yield replace(mistake.variant, pool=pool)


def _check_masks(exercise: Exercise, case: Case, answers: Answers) -> Check:
    """``masks``: what each block was given, (depth, b, t); nothing where one of them got no mask."""
    masks, real = answers.arrays.get("masks"), case.inputs["input_ids"] != 0
    if masks is not None and masks.shape == (int(case.config["depth"]), *real.shape):
        if bool((masks == real).all()):
            return Check("mask", True)
        if bool((masks == ~real).all()):
            return exercise.mistake("M10-inverted").check()
    return exercise.mistake("M10-unsaid").check()


EXERCISE = Exercise(make, judge, MISTAKES, framework="torch")

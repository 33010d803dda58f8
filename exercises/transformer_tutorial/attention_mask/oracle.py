"""``DotProductAttention`` with padding: a key that is padding gets the weight 0, in every head of its sentence."""

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
from .._attention_rules import (
    HEADS,
    OUTPUT,
    SCORES,
    fits,
    follows_from_earlier,
    with_scores,
    with_weights,
    wrong_shape,
)
from .._dot_products import AttentionVariant


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for (b, t, h, k), lengths in (((3, 5, 2, 4), (5, 2, 3)), ((2, 4, 3, 6), (3, 4))):
        case = draw(generator, b, t, h, k)
        inputs = {**case.inputs, "mask": np.arange(t)[None] < np.array(lengths)[:, None]}
        cases.append(Case({}, inputs, expected={"output": torch_attention(**inputs)}))
    return cases


MISTAKES = [
    Mistake("M10-rows", "Padded tokens come out as nan: as queries they find no key at all.",
            "Only keys are masked: a row with nothing but minus infinity makes nan, and nan spreads in training."),
    Mistake("M10-nan", "Real tokens come out as nan.",
            "Minus infinity times 0 is nan, and so is a softmax over nothing but minus infinity."),
    known("M10-ignored", "Padding still gets attention: the mask changes nothing.",
          "A key that is padding must get the weight 0, whatever its score.", AttentionVariant(mask="ignored")),
    known("M10-inverted", "The mask is the wrong way round: only padding gets attention.",
          "True marks a real token.", AttentionVariant(mask="inverted")),
    known("M10-zeros", "The scores of padding are set to 0; e to the power of 0 is 1, so padding still counts.",
          "Which score becomes the weight 0?", AttentionVariant(mask="zeros")),
    known("M10-after", "The weights were masked after the softmax: those of the real tokens no longer sum to 1.",
          "The softmax has to know which keys there are.", AttentionVariant(mask="after")),
    known("M10-tiled", "The heads of one sentence got the masks of other sentences.",
          "After folding, the batch counts all heads of sentence 0, then all heads of sentence 1. In which order do "
          "the masks repeat?", AttentionVariant(mask="tiled")),
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The numbers of real tokens count; what comes out for a padded query must be a number, and no more."""
    problem = wrong_shape(answers, case.expected["output"])
    if problem:
        return Judgement([problem])
    if fits(case, answers, [AttentionVariant()]):
        return right("mask") if np.isfinite(answers.arrays["output"]).all() else named(exercise, "M10-rows")
    if not np.isfinite(answers.arrays["output"][case.inputs["mask"]]).any():
        return named(exercise, "M10-nan")
    for mistake in exercise.mistakes:
        if mistake.variant and fits(case, answers, _with_earlier_mistakes(mistake.variant)):
            return mistake.judgement()
    return wrong(
        "mask",
        "What a real token collects still depends on the padding.",
        "A key that is padding must get the weight 0; the other weights must sum to 1.",
    )


def _with_earlier_mistakes(variant: AttentionVariant) -> list[AttentionVariant]:
    return [both for weights in with_weights(variant) for both in with_scores(weights)]


RULE = better_of_own_and_ready(not_charged_twice(judge, (SCORES, OUTPUT, HEADS), follows_from_earlier, "mask"))
RULE = without_side_effects(RULE, unless=(SCORES, OUTPUT, HEADS))
EXERCISE = Exercise(make, RULE, MISTAKES, framework="torch")

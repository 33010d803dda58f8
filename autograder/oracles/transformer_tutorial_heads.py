"""References for ``DotProductAttention`` with several heads, and with padding, each judged on its own.

What one head gets wrong costs its points in ``transformer_tutorial_attention``; where it did, it costs nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement
from autograder.oracles.judgements import either_way
from autograder.oracles.transformer_tutorial_attention import (
    Slip,
    draw,
    is_one_of,
    named,
    not_charged_twice,
    oracle,
    with_scores,
    with_softmax,
    wrong_shape,
)
from autograder.oracles.transformer_tutorial_dot_products import Knobs

HEADS = "transformer_tutorial/attention_heads"

# --- heads ------------------------------------------------------------------------------------------------------------


def _make_heads(generator: np.random.Generator) -> list[Case]:
    return [draw(generator, 2, 5, 3, 4), draw(generator, 3, 2, 4, 5)]


HEAD_SLIPS: Sequence[Slip] = [
    ("M5", "The heads are folded into the batch by view alone: a row of the batch mixes numbers of several tokens.",
     "In which order must the axes stand before b and h can become one?", Knobs(fold="viewed")),
    ("M5-both", "Heads were folded and unfolded by view alone: each row of the batch mixes several tokens.",
     "In which order must the axes stand before b and h can become one?", Knobs(fold="viewed", unfold="viewed")),
    ("M5-inter", "The last two axes were taken for (k, h); they are (h, k).",
     "Print the shape of queries before the first step.", Knobs(fold="interleaved")),
    ("M5-first", "Folded as (h, b), but unfolded as (b, h): the heads of different sentences were exchanged.",
     "Fold and unfold must agree on which of the two axes comes first.", Knobs(fold="heads_first")),
    ("M6", "The heads were unfolded without being moved back behind the tokens.",
     "Exchange the head axis and the token axis before the last two axes become one.", Knobs(unfold="viewed")),
    ("M6-inter", "In the output the heads are interleaved: number by number, not one head after the other.",
     "The last axis is (h, k), in this order.", Knobs(unfold="interleaved")),
]  # fmt: skip


def judge_heads(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    wrong = wrong_shape(answers, case.expected["output"])
    if wrong:
        return Judgement([wrong])
    got = answers.arrays["output"]
    if is_one_of(got, case, not_charged_twice(Knobs(), answers)):
        return Judgement([Check("heads", True)])
    for slip in HEAD_SLIPS:
        if is_one_of(got, case, with_scores(slip[3])):
            return named(slip)
    return Judgement(
        [
            Check(
                "heads",
                False,
                "With several heads the output is not what each head gives by itself.",
                "Fold, attend, unfold: follow one number of head 1 through every step.",
            )
        ]
    )


# --- mask -------------------------------------------------------------------------------------------------------------


def _make_mask(generator: np.random.Generator) -> list[Case]:
    cases = []
    for (b, t, h, k), lengths in (((3, 5, 2, 4), (5, 2, 3)), ((2, 4, 3, 6), (3, 4))):
        case = draw(generator, b, t, h, k)
        mask = np.arange(t)[None] < np.array(lengths)[:, None]
        cases.append(Case({}, {**case.inputs, "mask": mask}, expected={"output": oracle(**case.inputs, mask=mask)}))
    return cases


MASK_SLIPS: Sequence[Slip] = [
    ("M10-ignored", "Padding still gets attention: the mask changes nothing.",
     "A key that is padding must get the weight 0, whatever its score.", Knobs(mask="ignored")),
    ("M10-inverted", "The mask is the wrong way round: only padding gets attention.",
     "True marks a real token.", Knobs(mask="inverted")),
    ("M10-zeros", "The scores of padding are set to 0; e to the power of 0 is 1, so padding still counts.",
     "Which score becomes the weight 0?", Knobs(mask="zeros")),
    ("M10-after", "The weights were masked after the softmax: those of the real tokens no longer sum to 1.",
     "The softmax has to know which keys there are.", Knobs(mask="after")),
    ("M10-tiled", "The heads of one sentence got the masks of other sentences.",
     "After folding, the batch counts all heads of sentence 0, then all heads of sentence 1. In which order do the "
     "masks repeat?", Knobs(mask="tiled")),
]  # fmt: skip


def judge_mask(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    wrong = wrong_shape(answers, case.expected["output"])
    if wrong:
        return Judgement([wrong])
    got, mask = answers.arrays["output"], case.inputs["mask"]
    # What stands behind a padded query is nobody's business.
    heads = [Knobs(), *(slip[3] for slip in HEAD_SLIPS if answers.charged(HEADS))]
    if is_one_of(got, case, [k for knobs in heads for k in not_charged_twice(knobs, answers)], mask, mask):
        return Judgement([Check("mask", True)])
    if not np.isfinite(got[mask]).any():
        return named(
            (
                "M10-nan",
                "Real tokens come out as nan.",
                "Minus infinity times 0 is nan, and so is a softmax over nothing but minus infinity.",
                Knobs(),
            )
        )
    for slip in MASK_SLIPS:
        if is_one_of(got, case, with_softmax(slip[3]), mask, mask):
            return named(slip)
    return Judgement(
        [
            Check(
                "mask",
                False,
                "What a real token collects still depends on the padding.",
                "A key that is padding must get the weight 0; the other weights must sum to 1.",
            )
        ]
    )


EXERCISES = [
    Exercise(_make_heads, either_way(judge_heads), framework="torch", slug=HEADS),
    Exercise(_make_mask, either_way(judge_mask), framework="torch", slug="transformer_tutorial/attention_mask"),
]

"""Part 3 of the attention block: the weights, a softmax over the keys of the right scores.

Wrong scores that lost points in the exercise before lose none here. The weights must then be a softmax of some
scores; the answers ``larger_1`` to ``larger_3``, with queries and keys grown step by step, show whether they are.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    better_of_own_and_ready,
    compare_value,
    dropout_at_work,
    named,
    not_charged_twice,
    right,
    wrong,
)

from ..._attention import Array, sigmoid, softmax
from .._block import RIGHT
from .._block_cases import huge_case, ordinary_cases
from .._scores import PRE_LN, alike, scores_of, softmax_applied_twice, summed_axes
from ..attention_scores.oracle import MISTAKES as WRONG_SCORES

SCORES = "distilbert/attention_scores"
#: Axes that a softmax may run over by mistake, in a student's words.
WRONG_AXES = {
    (-2,): "axis 2, the queries",
    (1,): "axis 1, the heads",
    (0,): "axis 0, the batch",
    (-2, -1): "queries and keys together",
}
ROWS = "Each query's weights must sum to 1 over the keys (last axis)"
FROM_SCORES = "Weights are what the softmax makes of the scores."

MISTAKES = [
    Mistake(
        "M1-overflow",
        "The weights hold nan or inf when the scores are large.",
        "Use torch's own softmax: it subtracts the largest score first.",
    ),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough."),
    Mistake("M1", f"{ROWS}; yours sum to 1 over {{axes}}.", "Is the softmax told which axis to use?"),
    Mistake("M1-none", "These are the scores themselves: no softmax was applied.", FROM_SCORES),
    Mistake("M1-sigmoid", f"{ROWS}; yours come from a sigmoid, each on its own.", FROM_SCORES),
    dropout_at_work("The weights"),
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    weights = answers.arrays.get("weights")
    shape = compare_value("weights", weights, case.expected["weights"].astype(np.float32), exercise)
    if weights is None or not _can_be_weights(weights):
        return wrong("weights", shape.message, shape.hint)
    if not np.isfinite(weights).all():
        return named(exercise, "M1-overflow")
    same_shape = weights.shape == case.expected["weights"].shape
    axes = summed_axes(weights)
    if axes == (-1,) and (weights >= 0).all():
        if _all_equal(weights):
            message = "Every key gets the same weight, whatever the query."
            return wrong("weights", message, "The weights must come from the scores.")
        if same_shape and _softmax_twice(case, weights):
            return named(exercise, "M1-twice")
        if same_shape and _of_right_scores(case, weights):
            return right("weights")
        if same_shape:
            message = "These weights are not the softmax of the block's scores."
            return wrong("weights", message, "What goes into the softmax, and what is returned as the weights?")
    if not same_shape:
        return wrong("weights", shape.message, shape.hint)
    if axes in WRONG_AXES:
        return named(exercise, "M1", axes=WRONG_AXES[axes])
    return _no_softmax(exercise, case, weights.astype(np.float64))


def _can_be_weights(weights: Array) -> bool:
    return weights.dtype.kind == "f" and weights.size >= 2 and weights.ndim >= 3


def _all_equal(weights: Array) -> bool:
    return len(np.unique(weights.round(6))) == 1


def _of_right_scores(case: Case, weights: Array) -> bool:
    """Compared loosely: scores are judged in their own exercise, and huge ones are known to few digits only."""
    wanted = (softmax(scores_of(case, variant)) for variant in (RIGHT, PRE_LN))
    return any(np.allclose(weights, want, atol=5e-3, rtol=5e-2) for want in wanted)


def follows_from_wrong_scores(case: Case, answers: Answers) -> bool:
    """True where the weights are one softmax over the keys, of scores that may be wrong."""
    weights = answers.arrays.get("weights")
    if weights is None or not _can_be_weights(weights) or not np.isfinite(weights).all():
        return False
    if summed_axes(weights) != (-1,) or (weights < 0).any() or _all_equal(weights):
        return False
    if weights.shape == case.expected["weights"].shape and _softmax_twice(case, weights):
        return False
    return _is_huge(case) or _is_softmax(weights, answers)


def _is_huge(case: Case) -> bool:
    """Scores of several hundred leave only zeros and ones to compare: this case is about nan and inf alone."""
    return bool(np.abs(case.inputs["hidden_states"]).max() > 20)


def _is_softmax(weights: Array, answers: Answers) -> bool:
    """True where the weights are a softmax over the last axis of scores that depend on queries and keys.

    A product of queries and keys, with or without further terms, has a third difference of 0 over equal steps. The
    logarithms of its softmax have the same, apart from one number per row. Numbers that were not made of scores do
    not grow at all.
    """
    steps = [weights, *(answers.arrays.get(f"larger_{number}") for number in (1, 2, 3))]
    found = [step.astype(np.float64) for step in steps if step is not None and step.shape == weights.shape]
    if len(found) < 4 or any(summed_axes(step) != (-1,) for step in found):
        return False
    seen = np.logical_and.reduce([step > 1e-30 for step in found])  # smaller ones have lost digits; masked ones are 0
    if seen.mean() < 0.4:
        return False
    logs = [_centred(step, seen) for step in found]
    third = logs[3] - 3 * logs[2] + 3 * logs[1] - logs[0]
    grows = float(np.abs(logs[1] - logs[0]).max()) > 0.05
    return grows and float(np.abs(third).max()) < 5e-3 * max(1.0, float(np.abs(logs).max()))


def _centred(weights: Array, seen: Array) -> Array:
    """The logarithms minus their mean in each row; 0 where ``seen`` is False."""
    logs = np.log(np.where(seen, weights, 1.0))
    mean = logs.sum(-1, keepdims=True) / np.maximum(seen.sum(-1, keepdims=True), 1)
    return np.where(seen, logs - mean, 0.0)


def _softmax_twice(case: Case, weights: Array) -> bool:
    variants = [RIGHT, *(mistake.variant for mistake in WRONG_SCORES if mistake.variant is not None)]
    return any(softmax_applied_twice(weights.astype(np.float64), scores_of(case, variant)) for variant in variants)


def _no_softmax(exercise: Exercise, case: Case, weights: Array) -> Judgement:
    """Rows that do not sum to 1, or hold negative numbers: what was done instead of a softmax?"""
    scores = scores_of(case)
    if alike(weights, scores):
        return named(exercise, "M1-none")
    if (weights < 0).any():
        return wrong("weights", "Some weights are negative; a softmax never gives such a number.", FROM_SCORES)
    if alike(weights, sigmoid(scores)):
        return named(exercise, "M1-sigmoid")
    kept = weights != 0
    if not kept.all() and kept.any():
        ratios = weights[kept] / softmax(scores)[kept]
        if ratios.min() > 1.001 and np.ptp(ratios) < 1e-3 * ratios.max():
            return named(exercise, "M16")
    return wrong("weights", f"{ROWS}.", "A softmax over the last axis makes them so.")


def make(generator: np.random.Generator) -> list[Case]:
    return [*ordinary_cases(generator), huge_case(generator)]


RULE = better_of_own_and_ready(not_charged_twice(judge, (SCORES,), follows_from_wrong_scores, "weights"))
EXERCISE = Exercise(make, RULE, MISTAKES, framework="torch")

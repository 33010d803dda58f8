"""References for the block's weights: a softmax over the keys, of the right scores.

Wrong scores that were charged in the exercise before are not charged again. Then the weights must be a softmax of
some scores, which shows where queries and keys grow step by step (``larger_1`` to ``larger_3``).
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, compare_value
from autograder.oracles import attention
from autograder.oracles.attention import Knobs
from autograder.oracles.distilbert_block import huge, ordinary
from autograder.oracles.distilbert_scores import PRE_LN, SCORE_MISTAKES, made_twice, scores_of, summed_axes
from autograder.oracles.judgements import dropout, either_way, named, right, wrong

Array = np.ndarray
SCORES = "distilbert/attention_scores"

#: Axes that a softmax may run over by mistake, in a student's words.
WRONG_AXES = {
    (-2,): "axis 2, the queries",
    (1,): "axis 1, the heads",
    (0,): "axis 0, the batch",
    (-2, -1): "queries and keys together",
}
ROWS = "Each query's weights must sum to 1 over the keys (last axis)"


def judge_weights(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    weights = answers.arrays.get("weights")
    shape = compare_value("weights", weights, case.expected["weights"].astype(np.float32), exercise)
    if weights is None or weights.dtype.kind != "f" or weights.size < 2 or weights.ndim < 3:
        return wrong("weights", shape.message, shape.hint)
    if not np.isfinite(weights).all():
        return named(
            "M1-overflow",
            "The weights hold nan or inf when the scores are large.",
            "Use torch's own softmax: it subtracts the largest score first.",
        )
    same_shape = weights.shape == case.expected["weights"].shape
    axes = summed_axes(weights)
    if axes == (-1,) and (weights >= 0).all():
        if len(np.unique(weights.round(6))) == 1:
            message = "Every key gets the same weight, whatever the query."
            return wrong("weights", message, "The weights must come from the scores.")
        if same_shape and _twice(case, weights):
            return named("M1-twice", "The softmax was applied twice.", "Once is enough.")
        if same_shape and _of_right_scores(case, weights):
            return right("weights")
        if answers.charged(SCORES) and (_is_huge(case) or _is_softmax(weights, answers)):
            return right("weights")
        if same_shape:
            message = "These weights are not the softmax of the block's scores."
            return wrong("weights", message, "What goes into the softmax, and what is returned as the weights?")
    if not same_shape:
        return wrong("weights", shape.message, shape.hint)
    if axes in WRONG_AXES:
        message = f"{ROWS}; yours sum to 1 over {WRONG_AXES[axes]}."
        return named("M1", message, "Is the softmax told which axis to use?")
    return _no_softmax(case, weights.astype(np.float64))


def _of_right_scores(case: Case, weights: Array) -> bool:
    """Loosely: scores are judged in their own exercise, and huge ones are known to few digits only."""
    wanted = (attention.softmax(scores_of(case, knobs)) for knobs in (Knobs(), PRE_LN))
    return any(np.allclose(weights, want, atol=5e-3, rtol=5e-2) for want in wanted)


def _is_huge(case: Case) -> bool:
    """Scores of several hundred leave nothing to compare but zeros and ones: this case is about nan and inf alone."""
    return bool(np.abs(case.inputs["hidden_states"]).max() > 20)


def _is_softmax(weights: Array, answers: Answers) -> bool:
    """True where the weights are a softmax over the last axis of scores that queries and keys have a part in.

    A product of queries and keys, with or without further terms, has a third difference of 0 over equal steps; so have
    the logarithms of its softmax, but for a number per row. Numbers that were not made of scores do not grow at all.
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
    """The logarithms, less their mean in each row; 0 where there are none."""
    logs = np.log(np.where(seen, weights, 1.0))
    mean = logs.sum(-1, keepdims=True) / np.maximum(seen.sum(-1, keepdims=True), 1)
    return np.where(seen, logs - mean, 0.0)


def _twice(case: Case, weights: Array) -> bool:
    knobs = [Knobs(), *(known.knobs for known in SCORE_MISTAKES)]
    return any(made_twice(weights.astype(np.float64), scores_of(case, turned)) for turned in knobs)


def _no_softmax(case: Case, weights: Array) -> Judgement:
    """Rows that do not sum to 1, or hold negative numbers: what was done instead of a softmax?"""
    scores = scores_of(case)
    softmax = attention.softmax(scores)
    what = "Weights are what the softmax makes of the scores."
    if _alike(weights, scores):
        return named("M1-none", "These are the scores themselves: no softmax was applied.", what)
    if (weights < 0).any():
        return wrong("weights", "Some weights are negative; a softmax never gives such a number.", what)
    if _alike(weights, attention.sigmoid(scores)):
        return named("M1-sigmoid", f"{ROWS}; yours come from a sigmoid, each for itself.", what)
    kept = weights != 0
    if not kept.all() and kept.any():
        ratios = weights[kept] / softmax[kept]
        if ratios.min() > 1.001 and np.ptp(ratios) < 1e-3 * ratios.max():
            return dropout("The weights")
    return wrong("weights", f"{ROWS}.", "A softmax over the last axis makes them so.")


def _alike(first: Array, second: Array) -> bool:
    return bool(np.allclose(first, second, atol=1e-4, rtol=1e-3))


def _make(generator: np.random.Generator) -> list[Case]:
    return [*ordinary(generator), huge(generator)]


EXERCISE = Exercise(_make, either_way(judge_weights), framework="torch", slug="distilbert/attention_weights")

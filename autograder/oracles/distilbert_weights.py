"""References for the block's weights: judged by what a softmax over the keys does to any scores."""

from __future__ import annotations

import numpy as np

from autograder.compare import compare_value
from autograder.exercise import Answers, Case, Exercise, Judgement
from autograder.oracles import attention
from autograder.oracles.attention import Knobs
from autograder.oracles.distilbert_block import huge, ordinary
from autograder.oracles.distilbert_scores import SCORE_MISTAKES, made_twice, scores_of, summed_axes
from autograder.oracles.judgements import dropout, named, right, wrong

Array = np.ndarray


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
    if weights is None or weights.dtype.kind != "f" or weights.size < 2:
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
        return right("weights")  # of whatever scores; scores of a wrong shape have cost their points already
    if not same_shape:
        return wrong("weights", shape.message, shape.hint)
    if axes in WRONG_AXES:
        message = f"{ROWS}; yours sum to 1 over {WRONG_AXES[axes]}."
        return named("M1", message, "Is the softmax told which axis to use?")
    return _no_softmax(case, weights.astype(np.float64))


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


EXERCISE = Exercise("distilbert/attention_weights", _make, judge_weights)

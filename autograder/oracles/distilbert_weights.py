"""References for the block's weights: judged by what a softmax over the keys does to any scores."""

from __future__ import annotations

import numpy as np

from autograder.compare import compare_value
from autograder.exercise import Answers, Case, Exercise, Judgement
from autograder.oracles.distilbert_block import huge, ordinary
from autograder.oracles.distilbert_scores import scores_of
from autograder.oracles.judgements import named, right, wrong

Array = np.ndarray


#: Axes that a softmax may run over by mistake, in a student's words.
WRONG_AXES = {-2: "the queries", 1: "the heads", 0: "the batch"}


def judge_weights(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    weights = answers.arrays.get("weights")
    shape = compare_value("weights", weights, case.expected["weights"].astype(np.float32), exercise)
    if weights is None or weights.shape != case.expected["weights"].shape or weights.dtype.kind != "f":
        return wrong("weights", shape.message, shape.hint)
    if not np.isfinite(weights).all():
        return named(
            "M1-overflow",
            "The weights hold nan or inf when the scores are large.",
            "Use torch's own softmax: it subtracts the largest score first.",
        )
    if _sums_to_one(weights, -1) and (weights >= 0).all():
        if len(np.unique(weights.round(6))) == 1:
            message = "Every key gets the same weight, whatever the query."
            return wrong("weights", message, "The weights must come from the scores.")
        return right("weights")
    return _wrong_weights(case, weights)


def _wrong_weights(case: Case, weights: Array) -> Judgement:
    rows = "Each query's weights must sum to 1 over the keys (last axis)"
    for axis, words in WRONG_AXES.items():
        if _sums_to_one(weights, axis):
            message = f"{rows}; yours sum to 1 over axis {axis % 4}, {words}."
            return named("M1", message, "Is the softmax told which axis to use?")
    if np.allclose(weights, scores_of(case), atol=1e-4, rtol=1e-3):
        message = "These are the scores themselves: no softmax was applied."
        return named("M1-none", message, "Weights are what the softmax makes of the scores.")
    return wrong("weights", f"{rows}.", "A softmax over the last axis makes them so.")


def _sums_to_one(weights: Array, axis: int) -> bool:
    return bool(np.allclose(weights.sum(axis=axis), 1, atol=1e-4))


def _make(generator: np.random.Generator) -> list[Case]:
    return [*ordinary(generator), huge(generator)]


EXERCISE = Exercise("distilbert/attention_weights", _make, judge_weights)

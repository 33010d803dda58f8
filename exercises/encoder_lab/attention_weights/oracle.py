"""Scores become weights: a softmax over the keys."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_case, named

from ..._attention import softmax
from .._arrays import Wrong, normal
from .._scaled_attention import LOOK_AXIS

Array = np.ndarray


def _make_weights(generator: np.random.Generator) -> list[Case]:
    import torch

    cases = []
    for batch, n, m, size in ((2, 5, 7, 1.5), (3, 6, 4, 1.5), (2, 4, 3, 800.0)):
        scores = normal(generator, batch, n, m, size=size)
        expected = torch.from_numpy(scores.astype(np.float64)).softmax(-1).numpy()
        cases.append(Case(inputs={"scores": scores}, expected={"weights": expected}))
    return cases


def _weighted(change: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"weights": change(case.inputs["scores"].astype(np.float64))}


def _divided_by_sum(s: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return s / s.sum(-1, keepdims=True)


def _exponentials(s: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(s)


MISTAKES = [
    Mistake(
        "M1",
        "Your weights sum to 1 over the queries; each query's must do so over the keys (last axis).",
        LOOK_AXIS,
        _weighted(lambda s: softmax(s, -2)),
    ),
    Mistake(
        "M1-batch",
        "Your weights sum to 1 over the batch; each query's must do so over the keys (last axis).",
        LOOK_AXIS,
        _weighted(lambda s: softmax(s, 0)),
    ),
    Mistake(
        "M1-all",
        "All weights of a sentence together sum to 1; each query's must do so.",
        LOOK_AXIS,
        _weighted(lambda s: softmax(s.reshape(len(s), -1)).reshape(s.shape)),
    ),
    Mistake(
        "M1-log",
        "These are the weights' logarithms.",
        "A softmax, not a log-softmax.",
        _weighted(
            lambda s: s - s.max(-1, keepdims=True) - np.log(np.exp(s - s.max(-1, keepdims=True)).sum(-1, keepdims=True))
        ),
    ),
    Mistake(
        "M1-none",
        "These are the scores themselves: no softmax was applied.",
        "Weights are what the softmax makes of them.",
        _weighted(lambda s: s),
    ),
    Mistake(
        "M1-sigmoid",
        "Each weight was made of its own score alone (a sigmoid).",
        "The weights of a query share a sum of 1.",
        _weighted(lambda s: 1 / (1 + np.exp(-np.clip(s, -700, 700)))),
    ),
    Mistake(
        "M1-linear",
        "The scores were divided by their sum; without exponential, weights can be negative.",
        "A softmax takes the exponential first.",
        _weighted(_divided_by_sum),
    ),
    Mistake(
        "M1-exp",
        "The exponentials are there, but not divided by their sum.",
        "Each row must sum to 1.",
        _weighted(_exponentials),
    ),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.", _weighted(lambda s: softmax(softmax(s)))),
    Mistake(
        "M1-overflow",
        "The weights hold nan or inf when the scores are large.",
        "Use torch's own softmax: it takes away the largest score first.",
    ),
]


def judge_weights(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule, but nan and inf have a name where the scores are so large that exp alone overflows."""
    weights = answers.arrays.get("weights")
    comparable = weights is not None and weights.shape == case.expected["weights"].shape
    large = float(np.abs(case.inputs["scores"]).max()) > 90
    if comparable and large and not np.isfinite(weights).all():
        return named(exercise, "M1-overflow")
    return compare_case(exercise, case, answers)


EXERCISE = Exercise(_make_weights, judge_weights, MISTAKES, framework="torch")

"""References for the first two steps of attention: scores and weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case
from autograder.oracles.attention import softmax
from autograder.oracles.encoder_lab_drawing import (
    Wrong,
    normal,
    raw_scores,
    root,
)

Array = np.ndarray


def _make_scores(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, n, m, d in ((2, 5, 7, 4), (3, 6, 4, 9), (4, 3, 5, 2)):
        case = Case(inputs={"query": normal(generator, batch, n, d), "key": normal(generator, batch, m, d)})
        cases.append(Case(inputs=case.inputs, expected={"scores": raw_scores(case) / root(case)}))
    return cases


def _scores(change: Callable[[Array, Case], Array]) -> Wrong:
    return lambda case: {"scores": change(raw_scores(case), case)}


LOOK_SCALE = "They are divided by the root of the vectors' length, once."
SCORE_MISTAKES = [
    Mistake("M2", "Your scores are √d_k times too large: they were not divided.", LOOK_SCALE, _scores(lambda s, c: s)),
    Mistake(
        "M3",
        "Your scores are divided by d_k itself, or by its root twice.",
        LOOK_SCALE,
        _scores(lambda s, c: s / root(c) ** 2),
    ),
    Mistake("M3-inverse", "Your scores are multiplied by √d_k.", LOOK_SCALE, _scores(lambda s, c: s * root(c))),
    Mistake(
        "M3-keys",
        "Your scores are divided by the root of the number of keys.",
        "The last axis of query and key says how long a vector is.",
        _scores(lambda s, c: s / np.sqrt(s.shape[-1])),
    ),
    Mistake(
        "M3-queries",
        "Your scores are divided by the root of the number of queries.",
        "The last axis of query and key says how long a vector is.",
        _scores(lambda s, c: s / np.sqrt(s.shape[-2])),
    ),
    Mistake(
        "M3-batch",
        "Your scores are divided by the root of the batch size.",
        "The last axis of query and key says how long a vector is.",
        _scores(lambda s, c: s / np.sqrt(s.shape[0])),
    ),
    Mistake(
        "M4-swap",
        "Query and key have changed places: entry (i, j) is how token j asks for token i.",
        "Rows are queries, columns are keys.",
        _scores(lambda s, c: s.swapaxes(1, 2) / root(c)),
    ),
    Mistake(
        "M1-early",
        "These are weights already: a softmax was applied.",
        "The softmax is the next step.",
        _scores(lambda s, c: softmax(s / root(c))),
    ),
]


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


def _linear(s: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return s / s.sum(-1, keepdims=True)


def _unscaled(s: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(s)


LOOK_AXIS = "Is the softmax told which axis to use?"
WEIGHT_MISTAKES = [
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
        _weighted(_linear),
    ),
    Mistake(
        "M1-exp",
        "The exponentials are there, but not divided by their sum.",
        "Each row must sum to 1.",
        _weighted(_unscaled),
    ),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.", _weighted(lambda s: softmax(softmax(s)))),
]


def judge_weights(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    weights = answers.arrays.get("weights")
    large = float(np.abs(case.inputs["scores"]).max()) > 90
    if (
        weights is not None
        and weights.shape == case.expected["weights"].shape
        and large
        and not np.isfinite(weights).all()
    ):
        return Judgement(
            [
                Check(
                    "M1-overflow",
                    False,
                    "The weights hold nan or inf when the scores are large.",
                    "Use torch's own softmax: it takes away the largest score first.",
                    "M1-overflow",
                )
            ]
        )
    return compare_case(exercise, case, answers)


EXERCISES = [
    Exercise(_make_scores, mistakes=SCORE_MISTAKES, framework="torch", slug="encoder_lab/attention_scores"),
    Exercise(_make_weights, judge_weights, WEIGHT_MISTAKES, framework="torch", slug="encoder_lab/attention_weights"),
]

"""References for attention in one function, and as the method of a head."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case, compare_value
from autograder.oracles.attention import softmax
from autograder.oracles.encoder_lab_drawing import (
    Wrong,
    normal,
    raw_scores,
    root,
    torch_attention,
)
from autograder.oracles.judgements import is_mixture

#: The exercises in which wrong weights are charged.
STEPS_BEFORE = ("encoder_lab/attention_scores", "encoder_lab/attention_weights")

Array = np.ndarray
LOOK_SCALE = "They are divided by the root of the vectors' length, once."
LOOK_AXIS = "Is the softmax told which axis to use?"


def _make_attention(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, n, m, d, e in ((2, 5, 7, 4, 3), (3, 6, 6, 9, 5), (2, 4, 4, 4, 4)):
        inputs = {
            "query": normal(generator, batch, n, d, size=1.3),
            "key": normal(generator, batch, m, d, size=1.3),
            "value": normal(generator, batch, m, e),
        }
        expected = {"output": torch_attention(*inputs.values())}
        cases.append(Case(inputs=inputs, expected=expected))
    return cases


def _mixed(weights: Callable[[Array, Case], Array]) -> Wrong:
    """The output of somebody whose weights differ."""
    return lambda case: {"output": weights(raw_scores(case), case) @ case.inputs["value"].astype(np.float64)}


def _scores_times_values(case: Case) -> Mapping[str, Array]:
    return {"output": softmax(raw_scores(case) / root(case) @ case.inputs["value"].astype(np.float64))}


def _wrong_sum(case: Case) -> Mapping[str, Array]:
    weights = softmax(raw_scores(case) / root(case))
    return {"output": weights.sum(1)[:, : weights.shape[1], None] * case.inputs["value"][:, : weights.shape[1]]}


def _turned(case: Case) -> Mapping[str, Array]:
    weights = softmax(raw_scores(case) / root(case))
    value = case.inputs["value"].astype(np.float64)
    return {"output": weights.swapaxes(1, 2) @ value} if weights.shape[1] == weights.shape[2] else {}


MIX_MISTAKES = [
    Mistake("M2", "The scores are not divided by √d_k.", LOOK_SCALE, _mixed(lambda s, c: softmax(s))),
    Mistake(
        "M3",
        "The scores are divided by d_k itself, or by its root twice.",
        LOOK_SCALE,
        _mixed(lambda s, c: softmax(s / root(c) ** 2)),
    ),
    Mistake("M3-inverse", "The scores are multiplied by √d_k.", LOOK_SCALE, _mixed(lambda s, c: softmax(s * root(c)))),
    Mistake("M1", "The softmax runs over the queries.", LOOK_AXIS, _mixed(lambda s, c: softmax(s / root(c), -2))),
    Mistake("M1-batch", "The softmax runs over the batch.", LOOK_AXIS, _mixed(lambda s, c: softmax(s / root(c), 0))),
    Mistake(
        "M1-none",
        "No softmax was applied: the values are mixed by the scores themselves.",
        "Scores, softmax, weighted sum.",
        _mixed(lambda s, c: s / root(c)),
    ),
    Mistake(
        "M3-late",
        "The weights were divided by √d_k, not the scores: the rows no longer sum to 1.",
        "The scores are scaled before the softmax.",
        _mixed(lambda s, c: softmax(s) / root(c)),
    ),
    Mistake(
        "M9",
        "The softmax was applied to the mixed values, not to the scores.",
        "Scores, softmax, weighted sum.",
        _scores_times_values,
    ),
    Mistake(
        "M9-axis",
        "The weighted values were summed over the wrong axis.",
        "For each query the sum runs over the keys.",
        _wrong_sum,
    ),
    Mistake(
        "M4-transposed",
        "The weights were transposed before they met the values.",
        "Row i of the weights belongs to query i.",
        _turned,
    ),
    Mistake(
        "M9-mean",
        "Every value gets the same weight, whatever the query.",
        "The weights come from the scores.",
        _mixed(lambda s, c: np.full(s.shape, 1 / s.shape[-1])),
    ),
]


def judge_attention(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Right, or right given the student's own wrong weights where the steps before lost points for them."""
    judgement = compare_case(exercise, case, answers)
    output, weights = answers.arrays.get("output"), answers.arrays.get("weights")
    if judgement.earned == 1 or output is None or weights is None or weights.shape != raw_scores(case).shape:
        return judgement
    own = weights.astype(np.float64) @ case.inputs["value"].astype(np.float64)
    telling = is_mixture(weights) and float(np.ptp(weights, axis=-1).min()) > 1e-3
    if answers.charged(*STEPS_BEFORE) and telling and compare_value("output", output, own, exercise).passed:
        return Judgement([Check("output", True)])
    return judgement


def _make_method(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, n, m, d, e in ((2, 5, 7, 4, 3), (3, 6, 6, 9, 5)):
        inputs = {
            "query": normal(generator, batch, n, d, size=1.3),
            "key": normal(generator, batch, m, d, size=1.3),
            "value": normal(generator, batch, m, e),
        }
        unit_values = np.broadcast_to(np.eye(m), (batch, m, m))
        expected = {
            "output": torch_attention(*inputs.values()),
            "weights": torch_attention(inputs["query"], inputs["key"], unit_values),
        }
        sizes = {"d_model": 2 * d + e, "d_k": d, "d_q": d, "d_v": e}
        cases.append(Case(sizes, inputs, expected=expected))
    return cases


METHOD_MISTAKES = [
    Mistake(
        "weights-scores",
        "What is returned second are the scores, not the weights.",
        "Return what the softmax gave.",
        lambda case: {"weights": raw_scores(case) / root(case)},
    ),
    Mistake(
        "weights-order",
        "Output and weights have changed places.",
        "return output, weights",
        lambda case: {"weights": case.expected["output"]},
    ),
    *MIX_MISTAKES,
]


EXERCISES = [
    Exercise(
        _make_attention,
        judge_attention,
        MIX_MISTAKES,
        framework="torch",
        slug="encoder_lab/scaled_dot_product_attention",
    ),
    Exercise(_make_method, mistakes=METHOD_MISTAKES, framework="torch", slug="encoder_lab/head_attention"),
]

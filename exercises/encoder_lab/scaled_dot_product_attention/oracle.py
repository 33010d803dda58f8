"""Attention in one function."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Mistake, compare_case, compare_value, not_charged_twice

from .._arrays import Wrong, normal
from .._scaled_attention import MIX_MISTAKES, raw_scores, torch_attention

Array = np.ndarray
#: The exercises in which wrong weights are charged.
STEPS_BEFORE = ("encoder_lab/attention_scores", "encoder_lab/attention_weights")


def _make_attention(generator: np.random.Generator) -> list[Case]:
    cases = []
    # queries more and fewer than keys, values longer and shorter than queries
    for batch, n, m, d, e in ((2, 5, 7, 4, 3), (3, 6, 6, 9, 5), (2, 4, 4, 4, 4), (3, 7, 4, 3, 6)):
        inputs = {
            "query": normal(generator, batch, n, d, size=1.3),
            "key": normal(generator, batch, m, d, size=1.3),
            "value": normal(generator, batch, m, e),
        }
        expected = {"output": torch_attention(*inputs.values())}
        cases.append(Case(inputs=inputs, expected=expected))
    return cases


def _follows(case: Case, answers: Answers) -> bool:
    """True where the output is the weighted sum of the student's own wrong weights."""
    output, weights = answers.arrays.get("output"), answers.arrays.get("weights")
    if output is None or weights is None or weights.shape != raw_scores(case).shape:
        return False
    own = weights.astype(np.float64) @ case.inputs["value"].astype(np.float64)
    telling = _is_mixture(weights) and float(np.ptp(weights, axis=-1).min()) > 1e-3
    return telling and compare_value("output", output, own, EXERCISE).passed


def _is_mixture(weights: Array) -> bool:
    """True where most attention weights (…, queries, keys) are not 0: what comes out shows whether they met the values.

    With zeros, or a single key for each query, nothing has to be mixed.
    """
    if weights.dtype.kind != "f" or not weights.size:
        return False
    return bool(np.isfinite(weights).all()) and float((np.abs(weights) > 1e-6).mean()) > 0.5


def _cut(axis: int, of: str, along: int) -> Wrong:
    """The output without what goes beyond another array's length; nothing to tell where nothing does."""

    def answers(case: Case) -> Mapping[str, Array]:
        whole, length = case.expected["output"], case.inputs[of].shape[along]
        return {"output": whole.take(range(length), axis)} if whole.shape[axis] > length else {}

    return answers


CUT_MISTAKES = [
    Mistake(
        "cut-width",
        "The output is cut to the length of a query.",
        "Each query gets a mix of values, as long as a value.",
        _cut(2, "query", 2),
    ),
    Mistake(
        "cut-queries",
        "The output is cut to the number of keys.",
        "There is one vector for each query.",
        _cut(1, "key", 1),
    ),
]
EXERCISE = Exercise(
    _make_attention,
    not_charged_twice(compare_case, STEPS_BEFORE, _follows),
    [*MIX_MISTAKES, *CUT_MISTAKES],
    framework="torch",
    axes={"output": "batch, n, d_v"},
)

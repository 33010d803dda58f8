"""Attention as the method of a head: output and weights."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._arrays import normal
from .._scaled_attention import MIX_MISTAKES, raw_scores, root, torch_attention


def _make(generator: np.random.Generator) -> list[Case]:
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


MISTAKES = [
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


EXERCISE = Exercise(_make, mistakes=MISTAKES, framework="torch")

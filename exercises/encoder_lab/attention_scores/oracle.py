"""Scaled dot products of every query with every key."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ..._attention import softmax
from .._arrays import Wrong, normal
from .._scaled_attention import LOOK_SCALE, raw_scores, root

Array = np.ndarray


def _make_scores(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, n, m, d in ((2, 5, 7, 4), (3, 6, 4, 9), (4, 3, 5, 2)):
        case = Case(inputs={"query": normal(generator, batch, n, d), "key": normal(generator, batch, m, d)})
        cases.append(Case(inputs=case.inputs, expected={"scores": raw_scores(case) / root(case)}))
    return cases


def _scores(change: Callable[[Array, Case], Array]) -> Wrong:
    return lambda case: {"scores": change(raw_scores(case), case)}


MISTAKES = [
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


EXERCISE = Exercise(_make_scores, mistakes=MISTAKES, framework="torch")

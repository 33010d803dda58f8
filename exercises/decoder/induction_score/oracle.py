"""The induction score, number by number with Python's own sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    """Causal weights; the last case has two repetitions and a half."""
    cases = []
    for batch, heads, tokens, period in ((2, 3, 8, 4), (3, 2, 14, 7), (2, 4, 13, 5)):
        weights = np.tril(generator.uniform(0.1, 1, (batch, heads, tokens, tokens)))
        weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
        scores = _scores(weights, period, period - 1, period)
        cases.append(Case({"period": period}, {"weights": weights}, expected={"scores": scores}))
    return cases


def _scores(weights: Array, period: int, back: int, first: int, over: int | None = None) -> Array:
    """The mean weight of the key that stands ``back`` tokens before its query, for queries from ``first`` on."""
    batch, heads, tokens, _ = weights.shape
    queries = range(first, tokens)
    sums = [
        math.fsum(float(weights[row, head, query, query - back]) for row in range(batch) for query in queries)
        for head in range(heads)
    ]
    return np.array(sums) / (batch * (over or len(queries)))


def _known(
    back: Callable[[int], int], first: Callable[[int], int] = lambda p: p
) -> Callable[[Case], Mapping[str, Array]]:
    """back, first: functions of the period"""

    def answers(case: Case) -> Mapping[str, Array]:
        period = case.config["period"]
        return {"scores": _scores(case.inputs["weights"], period, back(period), first(period))}

    return answers


def _of(case: Case) -> tuple[Array, int]:
    return case.inputs["weights"].astype(np.float64), int(case.config["period"])


def _diagonal(case: Case, axis: tuple[int, ...], name: str = "mean") -> Mapping[str, Array]:
    weights, period = _of(case)
    looked = np.diagonal(weights, 1 - period, -2, -1)[..., 1:]
    return {"scores": getattr(looked, name)(axis=axis)}


def _over_all(case: Case) -> Mapping[str, Array]:
    weights, period = _of(case)
    return {"scores": _scores(weights, period, period - 1, period, over=weights.shape[-1])}


def _transposed(case: Case) -> Mapping[str, Array]:
    weights, period = _of(case)
    return {"scores": np.diagonal(weights, period - 1, -2, -1)[..., 1:].mean(axis=(0, 2))}


MISTAKES = [
    Mistake("IND-copy", "This is the weight of the earlier copy itself.", "The token behind it: one place further.",
            _known(lambda p: p)),
    Mistake("IND-previous", "This is the weight of the token before.",
            "An induction head looks behind the earlier copy.",
            _known(lambda p: 1)),
    Mistake("IND-two", "This is the weight of the token two places behind the copy.",
            "One place behind it: period - 1 back.",
            _known(lambda p: p - 2)),
    Mistake("IND-first", "A query without an earlier copy was counted: the last one of the first round.",
            "The diagonal begins one query too early.", _known(lambda p: p - 1, lambda p: p - 1)),
    Mistake("IND-late", "A query was left out: the first one of the second round.", "Queries from period on count.",
            _known(lambda p: p - 1, lambda p: p + 1)),
    Mistake("IND-over", "The sum was divided by the number of all queries.",
            "Only those with an earlier copy count.", _over_all),
    Mistake("IND-sum", "The weights were summed.", "The score is their mean.", lambda case: _diagonal(case, (0, 2),
            "sum")),
    Mistake("IND-max", "This is the largest weight.", "The score is the mean.", lambda case: _diagonal(case, (0, 2),
            "max")),
    Mistake("IND-heads", "The mean runs over the heads.", "One score for each head: over batch and queries.",
            lambda case: _diagonal(case, (1, 2))),
    Mistake("IND-batch", "There is a score for each sequence.", "The mean runs over the batch as well.",
            lambda case: _diagonal(case, (2,))),
    Mistake("IND-all", "The mean runs over the heads, too.",
            "One score for each head.", lambda case: _diagonal(case, (0, 1, 2))),
    Mistake("IND-forwards", "Queries and keys have changed places.",
            "The key stands before its query: below the diagonal.", _transposed),
    SIDE_EFFECTS[0],
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")

"""Reading scores off attention weights.

Scores are recognised as logarithms, whichever axis the weights were normalised over, so that a mistake in one part of
the block costs that part's points only.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case

from .._attention import Array, sigmoid, softmax
from ._block import RIGHT, BlockVariant, attention_input, attention_scores

#: The axes that are tried, the right one first. The last entry is a softmax over each head's whole matrix.
AXES: tuple[tuple[int, ...], ...] = ((-1,), (-2,), (1,), (0,), (-2, -1))
#: Scores of normalised tokens: the LayerNorm stands in the wrong place, which costs the points of the last part.
PRE_LN = BlockVariant(norm="pre")


def scores_of(case: Case, variant: BlockVariant = RIGHT) -> Array:
    """(batch, heads, queries, keys) in float64"""
    hidden_states = case.inputs["hidden_states"].astype(np.float64)
    x = attention_input(hidden_states, case.weights, float(case.config["eps"]), variant)
    return attention_scores(x, case.weights, int(case.config["n_heads"]), variant)


def summed_axes(weights: Array) -> tuple[int, ...] | None:
    """The axes over which the weights sum to 1; None where there are none."""
    return next((axes for axes in AXES if np.allclose(weights.sum(axis=axes), 1, atol=1e-4)), None)


def made_of(weights: Array, scores: Array) -> bool:
    """True where the weights were computed from these scores, in whatever way.

    A softmax over a wrong axis, a second softmax, another function, dropout or nothing at all: the next exercise
    judges that.
    """
    if _divided_by_sum(weights, scores):
        return True
    axes = summed_axes(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(weights)
    if axes is None:
        return alike(weights, scores) or alike(weights, sigmoid(scores)) or _one_shift(logs, scores, (-1,))
    if (weights <= 0).any():
        return False  # zeros in rows that sum to 1: something was masked
    return _one_shift(logs, scores, axes) or softmax_applied_twice(weights, scores)


def _divided_by_sum(weights: Array, scores: Array) -> bool:
    """True where each row is the scores divided by their sum, without an exponential.

    Scores may add up to nearly nothing: then the weights are huge, and only their direction is exact.
    """
    largest = np.abs(weights).max(-1, keepdims=True)
    if not (np.abs(weights.sum(-1, keepdims=True) - 1) <= 1e-4 * np.maximum(1, largest)).all():
        return False
    sign = np.sign(scores.sum(-1, keepdims=True))
    return alike(_unit_rows(weights), sign * _unit_rows(scores))


def _unit_rows(array: Array) -> Array:
    return array / np.maximum(np.linalg.norm(array, axis=-1, keepdims=True), 1e-30)


def softmax_applied_twice(weights: Array, scores: Array) -> bool:
    """True where the weights are the softmax of the softmax of these scores."""
    return bool((weights > 0).all()) and _one_shift(np.log(weights), softmax(scores), (-1,))


def alike(first: Array, second: Array) -> bool:
    return bool(np.allclose(first, second, atol=1e-4, rtol=1e-3))


def _one_shift(logs: Array, scores: Array, axes: tuple[int, ...]) -> bool:
    """True where along the axes the two differ by one number, as after a softmax; weights of 0 are left out."""
    seen = np.isfinite(logs)
    # a single number always fits, and dropout leaves most of them
    if seen.mean() < 0.5 or not seen.any(axis=axes).all():
        return False
    difference = np.where(seen, logs, 0) - scores
    highest = np.where(seen, difference, -np.inf).max(axis=axes)
    lowest = np.where(seen, difference, np.inf).min(axis=axes)
    return bool((highest - lowest).max() < 2e-3)

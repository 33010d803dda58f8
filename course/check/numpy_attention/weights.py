"""The check of ``softmax``, and what attention weights give away about the scores behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course.check.base import axis_that_sums_to_one, close, fail, finite, passed, running, same_shape

Array = np.ndarray

#: What somebody who is asked for scores of 0, ln 3 and so on must give.
_KNOWN = {(0.0, np.log(3.0)): (0.25, 0.75), (np.log(2.0), np.log(3.0)): (0.4, 0.6), (5.0, 5.0): (0.5, 0.5)}


def softmax(function: Callable[[Array], Array]) -> None:
    """Rows sum to 1, known rows come out, large numbers do no harm, the argument stays as it was."""
    name = "softmax"
    scores = np.random.default_rng(0).normal(0, 1.5, (3, 5))
    before = scores.copy()
    with running(name, "softmax of an array of shape (3, 5)", "The axis that is summed over must be kept (keepdims)."):
        weights = function(scores)
    same_shape(name, "the result", weights, (3, 5), "(n, m)", "One weight for each score.")
    finite(name, "the weights", weights)
    if not np.array_equal(scores, before):
        fail(
            name,
            "the argument must stay as it is.",
            "Your function changed it.",
            "-= and /= write into their left side.",
        )
    _rows(name, weights)
    for given, want in _KNOWN.items():
        with running(name, "softmax of one row"):
            got = function(np.array([given]))
        if not close(got, [want]):
            fail(
                name,
                f"the row {_row(given)} must become {_row(want)}.",
                f"Yours becomes {_row(np.ravel(got))}.",
                "e to the power of each number, divided by the sum of these over the row.",
            )
    _large(name, function)
    passed(name, "each row sums to 1", "known rows come out", "large numbers too", "the argument is left alone")


def _rows(name: str, weights: Array) -> None:
    if close(weights.sum(axis=-1), np.ones(len(weights))):
        return
    axis = axis_that_sums_to_one(weights, ("rows", "columns"))
    came = f"Yours sum to 1 over {axis}." if axis else f"The sums of your rows are {_row(weights.sum(axis=-1))}."
    fail(name, "each row must sum to 1.", came, "Are both the maximum and the sum told which axis to run along?")


def _large(name: str, function: Callable[[Array], Array]) -> None:
    look = "The exponential of 1000 does not fit into a float. Subtract something from the row first: it cancels."
    for shift in (1000.0, -1000.0):
        with running(name, "softmax of large numbers", look), np.errstate(all="ignore"):
            got = function(np.array([[0.0, np.log(3.0)]]) + shift)
        finite(name, f"the weights of numbers near {shift:g}", got, look)
        if not close(got, [[0.25, 0.75]]):
            fail(
                name,
                f"adding {shift:g} to a whole row must change nothing.",
                f"Yours becomes {_row(np.ravel(got))}.",
                look,
            )
    with running(name, "softmax of rows of very different size", look), np.errstate(all="ignore"):
        got = function(np.array([[900.0, 900.0], [-900.0, -900.0]]))
    finite(name, "the weights, where one row is far below the other,", got, "Each row needs its own maximum.")


def _row(numbers: Any) -> str:
    return f"[{', '.join(f'{float(number):.3g}' for number in numbers)}]"


def fitted(weights: Array, wanted: Array) -> float | None:
    """The factor c for which the weights (queries, keys) are the softmax of c · wanted; None where there is none.

    The logarithm of a softmax is its scores again, up to a number for each row.
    """
    if (weights <= 0).any():
        return None
    logs = np.log(weights)
    logs = logs - logs.mean(axis=1, keepdims=True)
    scores = wanted - wanted.mean(axis=1, keepdims=True)
    factor = float((logs * scores).sum() / (scores * scores).sum())
    return factor if np.abs(logs - factor * scores).max() < 1e-3 * max(1.0, abs(factor)) else None


def judge_weights(name: str, weights: Array, wanted: Array, factors: dict[str, float], where: str = "") -> None:
    """Fails, with a name where there is one, unless each query's weights are the softmax of ``wanted``.

    weights: (queries, keys), as they show in the result; factors: what a wrong scale may come from -> its factor
    """
    heads = f" {where}" if where else ""
    sums = weights.sum(axis=1)
    flipped = fitted(weights.T, wanted)
    if not close(sums, np.ones(len(sums))):
        if flipped is not None:
            fail(
                name,
                f"row i of the weights belongs to query i{heads}.",
                "Yours were transposed before they met the values.",
                "Token i collects from all tokens j: which index is summed over?",
            )
        if not np.any(weights - np.diag(np.diag(weights))):
            fail(
                name,
                f"token i must collect the values of all tokens{heads}.",
                "Yours only gets a multiple of its own value.",
                "Sum over j, the token that is attended to. Which axis of your array is j?",
            )
        axis = axis_that_sums_to_one(weights, ("queries", "keys"))
        if axis:
            fail(
                name,
                f"each query's weights must sum to 1 over the keys{heads}.",
                f"Yours sum to 1 over {axis}.",
                "Which axis does the softmax run along?",
            )
        fail(
            name,
            f"each query's weights must sum to 1 over the keys{heads}.",
            f"Yours sum to {_row(sums)}.",
            "Scores become weights by a softmax over the keys; nothing else touches them before they meet the values.",
        )
    if not weights.all():
        fail(
            name,
            f"every token attends to every token{heads}.",
            f"{int((weights == 0).sum())} of your weights are 0.",
            "Is something masked here?",
        )
    _judge_factor(name, fitted(weights, wanted), fitted(weights, wanted.T), factors, heads)


def _judge_factor(
    name: str, factor: float | None, swapped: float | None, factors: dict[str, float], heads: str
) -> None:
    if factor is None:
        if swapped is not None:
            fail(
                name,
                f"entry (i, j) of the scores is query i with key j{heads}.",
                "Yours is query j with key i.",
                "Rows are queries, columns are keys: which of the two is transposed?",
            )
        fail(
            name,
            f"the weights must come from the dot products of queries and keys{heads}.",
            "Yours do not: no factor makes them fit.",
            "Which axis of q must meet which axis of k? Write both shapes down.",
        )
    if abs(factor) < 1e-3:
        came = "Yours are the same for every key."
        fail(name, f"the weights must come from the dot products of queries and keys{heads}.", came)
    if abs(factor - 1) > 1e-3:
        reason = next((words for words, value in factors.items() if abs(factor / value - 1) < 1e-3), "")
        fail(
            name,
            f"the scores must be the dot products divided by √d_qkv{heads}.",
            f"Yours are {factor:.3g} times that{': ' + reason if reason else ''}.",
            "Compare your divisor with the formula; d_qkv is the width of one query.",
        )

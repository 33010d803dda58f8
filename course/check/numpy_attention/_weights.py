"""What attention weights give away about the scores behind them."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.check.base import axis_that_sums_to_one, close, fail

Array = np.ndarray


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
            f"Yours sum to {row(sums)}.",
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


def row(numbers: Any) -> str:
    """Numbers as people write them, in brackets."""
    return f"[{', '.join(f'{float(number):.3g}' for number in numbers)}]"

"""Notebook 2, part 2: the scores."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import axis_that_sums_to_one, close, fail, passed
from course.check.distilbert._blocks import AXES, TOKENS, one_hot_tokens, searching_block, weights_of
from course.check.distilbert._small import HEAD_SIZE, HEADS
from course.check.modules import undisturbed

#: Of a token's one number; half precision has none near it.
SIZE = 1.0005


@undisturbed
def attention_scores(kind: Any) -> None:
    """Each query's score for a key is their dot product, divided by the square root of a head's size once."""
    name = "attention_scores"
    weights = weights_of(name, searching_block(name, kind), one_hot_tokens(SIZE))
    seen = _without_blind(_logs(weights))
    next_key = torch.stack([head * torch.eye(TOKENS).roll(1, 1).triu() for head in (1, 2)]) * 5**0.5 * SIZE**2
    factor, limit = _factor(seen, next_key), 2e-4
    if factor is None:
        limit = 1e-2
        factor = _factor(_without_blind(_logs(_undo_softmax(weights))), next_key)
    if factor is None:
        _explain_scores(name, seen, next_key)
    elif abs(factor - 1) > limit:
        fail(
            name,
            f"a dot product of 5 in a head of size {HEAD_SIZE} makes a score of √5 = 2.24.",
            f"Yours is {factor * 5**0.5:.3g}: {_factor_in_words(factor)}",
            "The given line above has divided q already, by √(size of a head).",
        )
    passed(name, "every query meets every key", "rows are queries, columns are keys", "scaled once")


def _logs(weights: Tensor) -> Tensor:
    """What stands in the exponent; the numbers themselves where no softmax was applied yet."""
    return weights.log() if axis_that_sums_to_one(weights, AXES) else weights


def _undo_softmax(weights: Tensor) -> Tensor:
    """What went into a softmax, if that was itself a row of weights: a second softmax costs no scores."""
    logs = weights.log()
    return logs + (1 - logs.sum(-1, keepdim=True)) / TOKENS


def _without_blind(logs: Tensor) -> Tensor:
    """(2, heads, T, T) -> (heads - 1, T, T), less what batch 0 and head 0 have, whose scores are zero.

    Centred as well (see _factor), it no longer holds what a softmax over whatever axis divided by: the scores
    are seen even where the softmax is wrong.
    """
    return logs[1, 1:] - logs[1, :1] - (logs[0, 1:] - logs[0, :1])


def _centred(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True) - x.mean(-2, keepdim=True) + x.mean((-1, -2), keepdim=True)


def _factor(seen: Tensor, pattern: Tensor) -> float | None:
    """The number that the pattern must be multiplied with to give what is seen; None where there is none."""
    x, y = _centred(pattern), _centred(seen)
    factor = float((x * y).sum() / (x * x).sum())
    return factor if bool(torch.isfinite(seen).all()) and abs(factor) > 1e-3 and close(y, factor * x, 1e-2) else None


def _factor_in_words(factor: float) -> str:
    root, width = HEAD_SIZE**0.5, (HEADS * HEAD_SIZE) ** 0.5
    known = {
        root: "nothing was divided by √(size of a head).",
        1 / root: "the division by √(size of a head) happened twice.",
        root / width: "the division was by √dim, the width of all heads together.",
        1 / width: "there is a further division, by √dim.",
        1 / HEAD_SIZE: "there is a further division, by the size of a head.",
        -1.0: "the sign is wrong.",
    }
    if abs(factor - 1) < 5e-3:
        return "nearly right. Does something compute with too few digits?"
    return next(
        (words for value, words in known.items() if abs(factor - value) < 1e-2),
        f"{factor:.3g} times what it should be.",
    )


def _explain_scores(name: str, seen: Tensor, next_key: Tensor) -> None:
    expected = "the score of query i for key j is the dot product of the two."
    if _factor(seen, next_key.transpose(-1, -2)) is not None:
        fail(
            name,
            "row i must hold what token i's query finds; here it finds the key of token i + 1.",
            "In yours it finds token i - 1: query and key have changed places.",
            "Rows are queries, columns are keys.",
        )
    if not bool(torch.isfinite(seen).all()):
        fail(
            name,
            expected,
            "Some of your weights are zero, negative or not finite, so the scores cannot be seen.",
            "Nothing is masked or clipped here.",
        )
    if float(_centred(seen).abs().max()) < 1e-3:
        fail(
            name,
            expected,
            "In yours all scores are alike, whatever the tokens are.",
            "Does every query meet every key?",
        )
    fail(
        name,
        expected,
        "In yours the matching key does not stand out as it should.",
        "Which axis of k must meet the last axis of q? And is each head on its own, unmixed?",
    )

"""Notebook 3, part 5: padding gets no attention."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.distilbert._functions import is_function
from course.check.modules import undisturbed

NAME = "padding_mask"
#: Three sentences of 5, 3 and 4 tokens; the last is padded in front, as some models do it.
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 1, 1, 1]])
REAL = MASK.bool()
HEADS = 2


@undisturbed
def padding_mask(masked_weights: Any) -> None:
    """A padded key gets no weight, whatever its score, and a sentence the weights that it has without padding."""
    is_function(NAME, masked_weights)
    scores = torch.randn(len(MASK), HEADS, 5, 5)
    weights = _run(masked_weights, scores)
    _rows(weights)
    _padded_keys(weights)
    # real keys far below, padded ones far above: a score that only looks low is high among these
    high = scores + torch.where(REAL, -30.0, 10.0)[:, None, None]
    if float(_run(masked_weights, high)[_padded(weights)].abs().max()) > 0:
        fail(
            NAME,
            "a padded key gets exactly 0, also where all the other scores are near -30.",
            "In yours it gets some weight there.",
            "Scores can be low themselves: which number is lower than all of them?",
        )
    _as_without(masked_weights, scores, weights)
    passed(NAME, "padded keys get no weight", "rows sum to 1", "a sentence gets what it gets without padding")


def _run(masked_weights: Any, scores: Tensor) -> Tensor:
    look = "The mask is (batch, keys), the scores are (batch, heads, queries, keys): which axes does the mask lack?"
    with running(NAME, f"scores of shape {tuple(scores.shape)} with a mask of shape {tuple(MASK.shape)}", look):
        weights = masked_weights(scores.clone(), MASK.clone())
    same_shape(NAME, "the weights", weights, tuple(scores.shape), "(batch, heads, queries, keys)")
    weights = torch.as_tensor(weights)
    _not_nan(weights)
    finite(NAME, "the weights", weights, "Is the softmax the last step?")
    return weights


def _padded(weights: Tensor) -> Tensor:
    return (~REAL)[:, None, None, :].expand_as(weights)


def _not_nan(weights: Tensor) -> None:
    if not torch.isnan(weights).any():
        return
    rows = torch.isnan(weights).all(-1)
    look = "0 times minus infinity is nan: choose the padded scores, multiply nothing."
    if rows.any() and not torch.isnan(weights).all():
        look = (
            "Whole rows of yours are: are all keys of a query masked? 1 marks a real token, and keys are the last axis."
        )
    fail(NAME, "weights are numbers.", "Some of yours are nan.", look)


def _padded_keys(weights: Tensor) -> None:
    padded = weights[_padded(weights)]
    if float(padded.abs().max()) <= 1e-6:
        return
    look = (
        "The scores of padded keys, the last axis, must be so low that the softmax makes 0 of them. "
        "Neither 0 nor -1 is low."
    )
    if float(weights[1, :, :, :3].abs().max()) < 1e-6:
        look = "In yours the real tokens get none: 1 marks a real token, 0 padding."
    fail(NAME, "a padded key gets no weight.", f"In yours one gets {float(padded.max()):.2g}.", look)


def _rows(weights: Tensor) -> None:
    sums = weights.sum(-1)
    if close(sums, torch.ones_like(sums), 1e-4):
        return
    look = "Mask before the softmax, not after it, and let the softmax run over the last axis."
    if float(weights.min()) < 0:
        look = "A weight is never negative: is the softmax the last step?"
    came = f"One row of yours sums to {float(sums.min()):.2g}."
    fail(NAME, "each query's weights still sum to 1 over the keys.", came, look)


def _as_without(masked_weights: Any, scores: Tensor, weights: Tensor) -> None:
    """What stands in the padding makes no difference, and nothing else than the padding is masked."""
    for sentence, real in enumerate(REAL):
        short = scores[sentence][..., real]
        if not close(weights[sentence][..., real], short.softmax(-1), 1e-4):
            fail(
                NAME,
                "a sentence gets the weights that its scores give without the padding.",
                f"Sentence {sentence} of yours gets others.",
                "Real keys keep their scores; one softmax over the keys follows.",
            )

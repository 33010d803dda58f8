"""Scaled dot-product attention: dot products, torch's own function in float64, and the mistakes in one formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Case, Mistake

from .._attention import softmax
from ._arrays import Wrong

Array = np.ndarray
LOOK_SCALE = "They are divided by the root of the vectors' length, once."
LOOK_AXIS = "Is the softmax told which axis to use?"


def raw_scores(case: Case) -> Array:
    """(batch, queries, keys): dot products, not scaled"""
    query, key = case.inputs["query"].astype(np.float64), case.inputs["key"].astype(np.float64)
    return np.einsum("bnd,bmd->bnm", query, key)


def root(case: Case) -> float:
    return float(np.sqrt(case.inputs["query"].shape[-1]))


def torch_attention(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
    """torch's own function in float64: -> (batch, queries, size of a value)"""
    import torch
    from torch.nn import functional as F

    q, k, v = (torch.from_numpy(x.astype(np.float64)) for x in (query, key, value))
    allowed = None if mask is None else torch.from_numpy(mask != 0)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed).numpy()


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


#: Wrong outputs of somebody who computes scores, weights and weighted sum in one go.
MIX_MISTAKES = [
    Mistake("M2", "The scores are not divided by √d_k.", LOOK_SCALE, _mixed(lambda s, c: softmax(s))),
    Mistake(
        "M3",
        "The scores are divided by d_k itself, or by its root twice.",
        LOOK_SCALE,
        _mixed(lambda s, c: softmax(s / root(c) ** 2)),
    ),
    Mistake("M3-inverse", "The scores are multiplied by √d_k.", LOOK_SCALE, _mixed(lambda s, c: softmax(s * root(c)))),
    Mistake(
        "M3-keys",
        "The scores are divided by the root of the number of keys.",
        LOOK_SCALE,
        _mixed(lambda s, c: softmax(s / s.shape[-1] ** 0.5)),
    ),
    Mistake(
        "M3-batch",
        "The scores are divided by the root of the number of sentences.",
        LOOK_SCALE,
        _mixed(lambda s, c: softmax(s / len(s) ** 0.5)),
    ),
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

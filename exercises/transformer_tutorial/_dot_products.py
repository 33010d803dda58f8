"""Dot-product attention over folded heads in float64 NumPy, in its right form and in the known wrong ones.

The default variant is what ``torch.nn.functional.scaled_dot_product_attention`` computes, head by head; a test holds
the two together. Queries, keys and values come batch-first: (b, t, h, k).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._attention import softmax

Array = np.ndarray
SCALES = ("once", "never", "by_k", "tokens", "width", "multiplied")


@dataclass(frozen=True)
class AttentionVariant:
    """What the attention does; the defaults are right."""

    scale: str = "once"  # one of SCALES
    swapped: bool = False  # keys ask, queries answer
    axis: int | None = -1  # of (b*h, queries, keys); None: no softmax
    twice: bool = False  # a softmax of the softmax
    transposed: bool = False  # the weights' rows and columns exchanged before they meet the values
    late: bool = False  # the softmax comes after the values
    fold: str = "right"  # right | viewed | interleaved | heads_first
    unfold: str = "right"  # right | viewed | interleaved
    mask: str = "keys"  # keys | ignored | inverted | zeros | after | tiled


#: The known wrong ways from scores to the weighted sum, by the id of the mistake.
WRONG_WEIGHTS = {
    "M1": AttentionVariant(axis=-2),
    "M1-batch": AttentionVariant(axis=0),
    "M1-none": AttentionVariant(axis=None),
    "M1-twice": AttentionVariant(twice=True),
    "M9-late": AttentionVariant(late=True),
    "M4-transposed": AttentionVariant(transposed=True),
}
#: The known wrong ways to fold and unfold the heads, by the id of the mistake.
WRONG_HEADS = {
    "M5": AttentionVariant(fold="viewed"),
    "M5-both": AttentionVariant(fold="viewed", unfold="viewed"),
    "M5-inter": AttentionVariant(fold="interleaved"),
    "M5-first": AttentionVariant(fold="heads_first"),
    "M6": AttentionVariant(unfold="viewed"),
    "M6-inter": AttentionVariant(unfold="interleaved"),
}


def fold(x: Array, how: str = "right") -> Array:
    """(b, t, h, k) -> (b*h, t, k): one row of the batch for each head of each sentence"""
    b, t, h, k = x.shape
    if how == "viewed":
        return x.reshape(b * h, t, k)
    if how == "interleaved":
        return x.reshape(b, t, k, h).transpose(0, 3, 1, 2).reshape(b * h, t, k)
    if how == "heads_first":
        return x.transpose(2, 0, 1, 3).reshape(h * b, t, k)
    return x.transpose(0, 2, 1, 3).reshape(b * h, t, k)


def unfold(x: Array, b: int, h: int, how: str = "right") -> Array:
    """(b*h, t, k) -> (b, t, h*k)"""
    _, t, k = x.shape
    if how == "viewed":
        return x.reshape(b, t, h * k)
    if how == "interleaved":
        return x.reshape(b, h, t, k).transpose(0, 2, 3, 1).reshape(b, t, k * h)
    return x.reshape(b, h, t, k).transpose(0, 2, 1, 3).reshape(b, t, h * k)


def scores(queries: Array, keys: Array, h: int, variant: AttentionVariant = AttentionVariant()) -> Array:
    """(b*h, t, k) twice -> (b*h, queries, keys)"""
    t, k = queries.shape[-2:]
    if variant.swapped:
        queries, keys = keys, queries
    factor = {"once": k**-0.5, "never": 1.0, "by_k": 1 / k, "tokens": t**-0.5, "width": (h * k) ** -0.5}
    return factor.get(variant.scale, k**0.5) * np.einsum("bqk,bmk->bqm", queries, keys)


def attention(
    queries: Array,
    keys: Array,
    values: Array,
    variant: AttentionVariant = AttentionVariant(),
    mask: Array | None = None,
) -> Array:
    """(b, t, h, k) three times, mask (b, t) true where a token is real -> (b, t, h*k)"""
    b, _, h, _ = queries.shape
    q, k, v = (fold(x.astype(np.float64), variant.fold) for x in (queries, keys, values))
    s = scores(q, k, h, variant)
    keep = None if mask is None or variant.mask == "ignored" else _keep(mask, h, variant.mask)
    if keep is not None and variant.mask != "after":
        s = np.where(keep, s, 0.0 if variant.mask == "zeros" else -np.inf)
    with np.errstate(invalid="ignore"):
        if variant.late:
            return unfold(softmax(s @ v), b, h, variant.unfold)
        weights = s if variant.axis is None else softmax(s, variant.axis)
    if variant.twice:
        weights = softmax(weights)
    if keep is not None and variant.mask == "after":
        weights = weights * keep
    if variant.transposed:
        weights = weights.swapaxes(-1, -2)
    return unfold(weights @ v, b, h, variant.unfold)


def _keep(mask: Array, h: int, how: str) -> Array:
    """(b, t) -> (b*h, 1, t): which keys each row of the folded batch may see"""
    rows = np.tile(mask, (h, 1)) if how == "tiled" else np.repeat(mask, h, axis=0)
    return (~rows if how == "inverted" else rows)[:, None, :].astype(bool)

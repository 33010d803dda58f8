"""Dot-product attention over folded heads in float64 NumPy, with right scores and with the known wrong ones.

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


def fold(x: Array) -> Array:
    """(b, t, h, k) -> (b*h, t, k): one row of the batch for each head of each sentence"""
    b, t, h, k = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b * h, t, k)


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
    b, t, h, size = queries.shape
    q, k, v = (fold(x.astype(np.float64)) for x in (queries, keys, values))
    s = scores(q, k, h, variant)
    if mask is not None:
        s = np.where(np.repeat(mask, h, axis=0)[:, None, :], s, -np.inf)
    with np.errstate(invalid="ignore"):
        mixed = softmax(s) @ v
    return mixed.reshape(b, h, t, size).transpose(0, 2, 1, 3).reshape(b, t, h * size)

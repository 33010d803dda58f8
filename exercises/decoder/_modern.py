"""The parts of a modern block in float64 NumPy, each with the ways in which students get it wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._attention import Array, Weights, linear, sigmoid, softmax

#: (x, cos, sin) -> x with each pair of numbers turned
Rotate = Callable[[Array, Array, Array], Array]


def rms_norm(x: Array, weight: Array, eps: float = 1e-6) -> Array:
    """(..., dim) -> (..., dim)"""
    x = x.astype(np.float64)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def angles(positions: Array, head_size: int, base: float = 10000.0, step: float = 2.0) -> Array:
    """One angle for each position and pair of numbers: (tokens, head_size / 2)"""
    pairs = np.arange(head_size // 2)
    return positions[:, None] / base ** (step * pairs / head_size)


def tables(positions: Array, head_size: int, base: float = 10000.0) -> tuple[Array, Array]:
    """cos and sin, (tokens, head_size) each: the first half of the columns, and the same once more."""
    both = np.concatenate([angles(positions, head_size, base)] * 2, axis=-1)
    return np.cos(both), np.sin(both)


def rotate(x: Array, cos: Array, sin: Array) -> Array:
    """Number i and number i + head_size / 2 are a pair: (..., tokens, head_size) -> the same shape"""
    first, second = np.split(x.astype(np.float64), 2, axis=-1)
    c, s = (np.split(table.astype(np.float64), 2, axis=-1)[0] for table in (cos, sin))
    return np.concatenate([first * c - second * s, second * c + first * s], axis=-1)


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def swiglu(x: Array, weights: Weights, prefix: str = "") -> Array:
    """(..., dim) -> (..., dim)"""
    gate, up = (linear(x.astype(np.float64), weights, f"{prefix}{name}_proj") for name in ("gate", "up"))
    return linear(silu(gate) * up, weights, f"{prefix}down_proj")


def split(x: Array, heads: int) -> Array:
    """(batch, tokens, heads * head_size) -> (batch, heads, tokens, head_size)"""
    return np.moveaxis(x.reshape(*x.shape[:2], heads, -1), 2, 1)


def merge(x: Array) -> Array:
    """(batch, heads, tokens, head_size) -> (batch, tokens, heads * head_size)"""
    return np.moveaxis(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)


def causal(scores: Array) -> Array:
    """Scores with minus infinity for every later key: (..., queries, keys)"""
    later = np.triu(np.ones(scores.shape[-2:], bool), 1)
    return np.where(later, -np.inf, scores)


def grouped_attention(
    x: Array,
    cos: Array,
    sin: Array,
    weights: Weights,
    heads: int,
    kv_heads: int,
    *,
    prefix: str = "",
    tiled: bool = False,
    first_only: bool = False,
    scale: str = "head",
    mask: Callable[[Array], Array] = causal,
    turned: str = "qk",
    axis: int = -1,
    out: bool = True,
    scrambled: bool = False,
) -> Array:
    """(batch, tokens, dim) -> (batch, tokens, dim); the keywords are the mistakes.

    tiled: query head i takes the key of head i % kv_heads. turned: which of q, k and v are rotated. scrambled: the
    heads' outputs are put together without moving the heads behind the tokens.
    """
    x = x.astype(np.float64)
    q, k, v = (
        split(linear(x, weights, f"{prefix}{name}_proj"), count)
        for name, count in (("q", heads), ("k", kv_heads), ("v", kv_heads))
    )
    q, k, v = (rotate(part, cos, sin) if name in turned else part for name, part in zip("qkv", (q, k, v), strict=True))
    if first_only:
        k, v = k[:, :1], v[:, :1]
    group = heads // k.shape[1]
    k, v = (np.tile(part, (1, group, 1, 1)) if tiled else np.repeat(part, group, axis=1) for part in (k, v))
    divisor = {"head": q.shape[-1] ** 0.5, "none": 1.0, "dim": x.shape[-1] ** 0.5, "square": q.shape[-1]}[scale]
    attended = softmax(mask(q @ np.swapaxes(k, -1, -2) / divisor), axis) @ v
    merged = attended.reshape(x.shape[0], x.shape[1], -1) if scrambled else merge(attended)
    return linear(merged, weights, f"{prefix}o_proj") if out else merged

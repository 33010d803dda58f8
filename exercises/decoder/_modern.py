"""The tables of rotary positions, in float64 NumPy."""

from __future__ import annotations

import numpy as np

from .._attention import Array


def _angles(positions: Array, head_size: int, base: float) -> Array:
    """One angle for each position and pair of numbers: (tokens, head_size / 2)"""
    pairs = np.arange(head_size // 2)
    return positions[:, None] / base ** (2 * pairs / head_size)


def tables(positions: Array, head_size: int, base: float = 10000.0) -> tuple[Array, Array]:
    """cos and sin, (tokens, head_size) each: the first half of the columns, and the same once more."""
    both = np.concatenate([_angles(positions, head_size, base)] * 2, axis=-1)
    return np.cos(both), np.sin(both)

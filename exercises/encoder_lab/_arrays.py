"""Random arrays for the lab's cases."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def normal(generator: np.random.Generator, *shape: int, size: float = 1.0) -> Array:
    return (size * generator.normal(0, 1, shape)).astype(np.float32)


def linear_weight(generator: np.random.Generator, rows: int, columns: int, size: float = 1.4) -> Array:
    return normal(generator, rows, columns, size=size / columns**0.5)


def draw_attention(generator: np.random.Generator, *shape: int) -> Array:
    """(…, queries, keys): weights, each row together 1"""
    return generator.dirichlet(np.full(shape[-1], 0.5), shape[:-1]).astype(np.float32)

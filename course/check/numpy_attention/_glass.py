"""Inputs made of glass: with them, the result of attention shows its weights.

``x`` holds a hand-made table and one mark for each token. W_q picks the table, W_k and W_v pick the marks, W_o
passes on what it gets: so the scores are the table, and the result is the weights themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
Layer = Callable[[Array, Array, Array, Array, Array], Array]

#: Rows are queries, columns are keys; no symmetry, so that nothing can be exchanged unseen.
TABLE = np.array(
    [
        [0.0, 1.0, -0.5, 0.7, 0.2],
        [-1.0, 0.4, 0.9, 0.0, -0.3],
        [0.6, -0.8, 0.3, 1.2, -0.1],
        [0.5, 0.1, -1.1, 0.2, 0.8],
        [-0.4, 0.9, 0.6, -0.7, 0.3],
    ]
)
N = len(TABLE)
#: Where the weights show in the result; the columns before, where keys and queries have their numbers, stay 0.
SHOWN = slice(N, 2 * N)
ARGUMENTS = "x, W_q, W_k, W_v, W_o"


def glass(width: int, size: float = 1.0) -> tuple[Array, Array, Array, Array, Array]:
    """x (5, width + 10), W_q, W_k, W_v (width + 10, width), W_o (width, width + 10); the scores are size · TABLE"""
    model = width + 2 * N
    table, marks = slice(width, width + N), slice(width + N, model)
    x = np.zeros((N, model))
    x[:, table], x[:, marks] = size * width**0.5 * TABLE, np.eye(N)
    w_q, w_k, w_v = np.zeros((3, model, width))
    w_q[table, :N] = w_k[marks, :N] = w_v[marks, SHOWN] = np.eye(N)
    return x, w_q, w_k, w_v, np.eye(width, model)


def random_inputs(tokens: int, model: int = 48, width: int = 32, heads: int | None = None) -> tuple[Array, ...]:
    generator = np.random.default_rng(tokens)
    stack = () if heads is None else (heads,)
    projections = [generator.normal(0, model**-0.5, (*stack, model, width)) for _ in range(3)]
    return (
        generator.normal(0, 1, (tokens, model)),
        *projections,
        generator.normal(0, 0.1, ((heads or 1) * width, model)),
    )

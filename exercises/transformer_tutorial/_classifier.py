"""Cases for the methods of ``Transformer``, with stand-ins for its parts.

The hidden cells put ``place`` and ``block`` in place of positions and blocks, so that only ``Transformer`` is judged.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case

Array = np.ndarray


def place(x: Array) -> Array:
    """The hidden cells' stand-in for the positions: adds a tenth of the position"""
    return x + 0.1 * np.arange(x.shape[1])[:, None]


def block(x: Array, number: int) -> Array:
    """The hidden cells' stand-in for block ``number`` = 1, 2, …; in another order the result differs"""
    return np.tanh(x / number) + number


def draw(generator: np.random.Generator, b: int, t: int, k: int, depth: int) -> Case:
    """Ids, states that come from no ids, and an average that comes from no states: of each method the input."""
    num_tokens, num_classes = 4 * k + 1, depth + 1
    config = {"k": k, "heads": 2, "depth": depth, "seq_length": t + 4, "num_tokens": num_tokens,
              "num_classes": num_classes}  # fmt: skip
    weights = {
        "token_embedding.weight": generator.normal(0, 0.7, (num_tokens, k)).astype(np.float32),
        "classification_head.weight": generator.normal(0, 2 * k**-0.5, (num_classes, k)).astype(np.float32),
        "classification_head.bias": generator.normal(0, 0.5, num_classes).astype(np.float32),
    }
    inputs = {
        "input_ids": generator.integers(1, num_tokens, (b, t)),
        "states": generator.normal(0, 1.5, (b, t, k)).astype(np.float32),
        "average": generator.normal(0, 1.5, (b, k)).astype(np.float32),
    }
    return Case(config, inputs, weights)


def encoded(states: Array, mask: Array, depth: int) -> Array:
    """(b, t, k), mask (b, t) -> (b, k); one sentence at a time, cut to its real tokens."""
    rows = []
    for sentence, real in zip(states.astype(np.float64), mask, strict=True):
        x = sentence[real]
        for number in range(1, depth + 1):
            x = block(x, number)
        rows.append(x.mean(0))
    return np.stack(rows)

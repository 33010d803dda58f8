"""Cases for ``Transformer``, with stand-ins for its parts.

The hidden cells put ``place`` and ``block`` in place of positions and blocks, so that only ``Transformer`` is judged.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case

Array = np.ndarray


def place(x: Array) -> Array:
    """The hidden cells' stand-in for the positions: adds a tenth of the position"""
    return x + 0.1 * np.arange(x.shape[1])[:, None]


def block(x: Array, number: int) -> Array:
    """The hidden cells' stand-in for block ``number`` = 1, 2, …; in another order the result differs"""
    return np.tanh(x / number) + number


def draw(generator: np.random.Generator, b: int, t: int, k: int, depth: int, lengths: tuple[int, ...]) -> Case:
    """lengths: how many real tokens each of the b sentences has; the rest is padding, id 0"""
    num_tokens, num_classes = 4 * k + 1, depth + 1
    config = {"k": k, "heads": 2, "depth": depth, "seq_length": t + 4, "num_tokens": num_tokens,
              "num_classes": num_classes}  # fmt: skip
    weights = {
        "token_embedding.weight": generator.normal(0, 0.7, (num_tokens, k)).astype(np.float32),
        "classification_head.weight": generator.normal(0, 2 * k**-0.5, (num_classes, k)).astype(np.float32),
        "classification_head.bias": generator.normal(0, 0.5, num_classes).astype(np.float32),
    }
    ids = generator.integers(1, num_tokens, (b, t)) * (np.arange(t)[None] < np.array(lengths)[:, None])
    return Case(config, {"input_ids": ids}, weights, {}, {"log_probabilities": _torch_forward(ids, weights, depth)})


def _torch_forward(ids: Array, weights: Mapping[str, Array], depth: int) -> Array:
    """torch's own functions in float64, the stand-ins in NumPy; one sentence at a time, cut to its real tokens."""
    import torch

    w = {name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()}
    rows = []
    for sentence in ids:
        x = torch.nn.functional.embedding(torch.from_numpy(sentence[sentence != 0]), w["token_embedding.weight"])
        states = place((x * x.shape[1] ** 0.5)[None].numpy())
        for number in range(1, depth + 1):
            states = block(states, number)
        pooled = torch.from_numpy(states).mean(1)
        logits = torch.nn.functional.linear(pooled, w["classification_head.weight"], w["classification_head.bias"])
        rows.append(logits.log_softmax(1)[0].numpy())
    return np.stack(rows)

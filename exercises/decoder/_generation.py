"""What the exercises of notebook 2 share: distributions in float64 NumPy, and how a filter is judged."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


def distributions(generator: np.random.Generator, rows: int, words: int, spread: float = 1.5) -> Array:
    """Rows of probabilities without order and without ties (rows, words), float32."""
    x = np.exp(generator.normal(0, spread, (rows, words)))
    return (x / x.sum(-1, keepdims=True)).astype(np.float32)


def renormalised(probabilities: Array, keep: Array) -> Array:
    """What is kept, divided by its sum."""
    kept = np.where(keep, probabilities, 0.0)
    result: Array = kept / kept.sum(-1, keepdims=True)
    return result


def before(probabilities: Array) -> Array:
    """How much probability the likelier words of the row have together."""
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    ordered = np.take_along_axis(probabilities, order, -1)
    found = np.empty_like(probabilities)
    np.put_along_axis(found, order, np.cumsum(ordered, -1) - ordered, -1)
    return found


def warped(warper: Any, probabilities: Array) -> Array:
    """What one of transformers' LogitsWarpers leaves of the probabilities, in double precision."""
    import torch

    scores = torch.from_numpy(probabilities.astype(np.float64)).log()
    result: Array = warper(None, scores).softmax(-1).numpy()
    return result

"""Ready-made parts, and random inputs of attention."""

from collections.abc import Callable

import numpy as np

Array = np.ndarray
Layer = Callable[[Array, Array, Array, Array, Array], Array]
HEADS = 8


def softmax(x: Array) -> Array:
    """Along the last axis of any number of axes. Arguments have the names that the notebook gives them."""
    weights: Array = np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))
    return weights


def head(x: Array, W_q: Array, W_k: Array, W_v: Array, W_o: Array) -> Array:
    """``apply_self_attention``, ready-made."""
    x, w_q, w_k, w_v, w_o = (np.asarray(array) for array in (x, W_q, W_k, W_v, W_o))
    logits = (x @ w_q) @ (x @ w_k).T * w_q.shape[-1] ** -0.5
    result: Array = softmax(logits) @ (x @ (w_v @ w_o))
    return result


def random_inputs(tokens: int, model: int = 48, width: int = 32, heads: int | None = None) -> tuple[Array, ...]:
    generator = np.random.default_rng(tokens)
    stack = () if heads is None else (heads,)
    projections = [generator.normal(0, model**-0.5, (*stack, model, width)) for _ in range(3)]
    return (
        generator.normal(0, 1, (tokens, model)),
        *projections,
        generator.normal(0, 0.1, ((heads or 1) * width, model)),
    )

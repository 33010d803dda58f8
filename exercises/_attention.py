"""What oracles of several assignments compute with, in float64 NumPy: softmax, GELU, LayerNorm and a linear layer."""

from __future__ import annotations

from collections.abc import Mapping
from math import erf

import numpy as np

Array = np.ndarray
Weights = Mapping[str, np.ndarray]
_erf = np.vectorize(erf)


def linear(x: Array, weights: Weights, name: str) -> Array:
    """(..., features in) -> (..., features out); the bias is optional, as in ``nn.Linear``."""
    y = x @ weights[f"{name}.weight"].T.astype(np.float64)
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def layer_norm(x: Array, weights: Weights, name: str, eps: float, unbiased: bool = False) -> Array:
    """Normalise the last axis; ``unbiased`` divides the variance by n - 1, which is a common mistake."""
    centred = x - x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True, ddof=int(unbiased))
    return centred / np.sqrt(variance + eps) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x.clip(-500, 500)))


def gelu(x: Array, kind: str = "gelu") -> Array:
    """The exact GELU, or by ``kind`` what people use in its place: relu, tanh (its approximation), silu, none."""
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "silu":
        return x * sigmoid(x)
    if kind == "none":
        return x
    if kind == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / np.sqrt(2)))

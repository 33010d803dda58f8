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


def layer_norm(x: Array, weights: Weights, name: str, eps: float) -> Array:
    """Normalise the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + eps) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def gelu(x: Array) -> Array:
    """The exact GELU."""
    return 0.5 * x * (1 + _erf(x / np.sqrt(2)))

"""One DistilBERT block in float64 NumPy, with a knob for everything that people get wrong.

With every knob at rest it is the block of Sanh et al. 2019 (post-LN, exact GELU); a test holds it
against ``transformers``. The catalogue of mistakes turns the knobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import erf

import numpy as np

Weights = Mapping[str, np.ndarray]
Array = np.ndarray
_erf = np.vectorize(erf)


@dataclass(frozen=True)
class Knobs:
    """What a block does; the defaults are right."""

    scale: str = "once"  # once | never | twice | dim | head
    softmax_axis: int = -1
    swap_query_key: bool = False
    split: str = "right"  # right | untransposed | interleaved
    merge: str = "right"  # right | untransposed
    transposed_weights: bool = False
    context: str = "values"  # values | columns | keys | late
    activation: str = "gelu"  # gelu | relu | tanh | none
    attention_skip: str = "hidden"  # hidden | none
    ffn_skip: str = "attention"  # attention | none | hidden
    norm: str = "post"  # post | before_sum | none | pre
    norm_at: str = "both"  # both | first | second: which LayerNorm norm and unbiased are about
    eps: float | None = None
    unbiased: bool = False


def linear(x: Array, weights: Weights, name: str) -> Array:
    y = x @ weights[f"{name}.weight"].T.astype(np.float64)
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def layer_norm(x: Array, weights: Weights, name: str, eps: float, unbiased: bool = False) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True, ddof=int(unbiased))
    return centred / np.sqrt(variance + eps) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x.clip(-500, 500)))


def gelu(x: Array, kind: str = "gelu") -> Array:
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "none":
        return x
    if kind == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / np.sqrt(2)))


def split_heads(x: Array, n_heads: int, how: str = "right") -> Array:
    """(batch, tokens, dim) -> (batch, heads, tokens, dim per head)"""
    batch, tokens, dim = x.shape
    if how == "untransposed":
        return x.reshape(batch, n_heads, tokens, dim // n_heads)
    if how == "interleaved":
        return x.reshape(batch, tokens, dim // n_heads, n_heads).transpose(0, 3, 1, 2)
    return x.reshape(batch, tokens, n_heads, dim // n_heads).transpose(0, 2, 1, 3)


def merge_heads(x: Array, how: str = "right") -> Array:
    """(batch, heads, tokens, dim per head) -> (batch, tokens, dim)"""
    batch, heads, tokens, size = x.shape
    if how == "untransposed":
        return x.reshape(batch, tokens, heads * size)
    return x.transpose(0, 2, 1, 3).reshape(batch, tokens, heads * size)


def attention_input(hidden_states: Array, weights: Weights, eps: float, knobs: Knobs = Knobs()) -> Array:
    """What the projections take: the block's own input, normalised where the block is made pre-LN."""
    if knobs.norm == "pre":
        return layer_norm(hidden_states, weights, "sa_layer_norm", eps)
    return hidden_states


def attention_scores(hidden_states: Array, weights: Weights, n_heads: int, knobs: Knobs = Knobs()) -> Array:
    """(batch, tokens, dim) -> scores (batch, heads, queries, keys), before the softmax"""
    q = split_heads(linear(hidden_states, weights, "q_lin"), n_heads, knobs.split)
    k = split_heads(linear(hidden_states, weights, "k_lin"), n_heads, knobs.split)
    size, dim = q.shape[-1], hidden_states.shape[-1]
    factor = {"once": size**-0.5, "never": 1.0, "twice": 1 / size, "dim": dim**-0.5, "head": 1 / size}[knobs.scale]
    if knobs.swap_query_key:
        q, k = k, q
    return factor * np.einsum("bhqd,bhkd->bhqk", q, k)


def attention_tail(
    attention_weights: Array, hidden_states: Array, weights: Weights, n_heads: int, eps: float, knobs: Knobs = Knobs()
) -> Array:
    """Everything behind the softmax: weights (batch, heads, queries, keys) -> output (batch, tokens, dim)"""
    eps = eps if knobs.eps is None else knobs.eps
    attended = linear(_context(attention_weights, hidden_states, weights, n_heads, eps, knobs), weights, "out_lin")
    skip: Array | float = hidden_states if knobs.attention_skip == "hidden" else 0.0
    inner = _add_norm(attended, skip, weights, "sa_layer_norm", eps, knobs)
    fed_with = layer_norm(inner, weights, "output_layer_norm", eps) if knobs.norm == "pre" else inner
    fed = linear(gelu(linear(fed_with, weights, "lin1"), knobs.activation), weights, "lin2")
    skips: dict[str, Array | float] = {"attention": inner, "hidden": hidden_states, "none": 0.0}
    return _add_norm(fed, skips[knobs.ffn_skip], weights, "output_layer_norm", eps, knobs)


def _context(
    attention_weights: Array, hidden_states: Array, weights: Weights, n_heads: int, eps: float, knobs: Knobs
) -> Array:
    """-> (batch, tokens, dim), the heads merged"""
    x = attention_input(hidden_states, weights, eps, knobs)
    v = split_heads(linear(x, weights, "k_lin" if knobs.context == "keys" else "v_lin"), n_heads, knobs.split)
    if knobs.transposed_weights:
        attention_weights = attention_weights.swapaxes(-1, -2)
    if knobs.context == "columns":
        context = attention_weights.sum(-2)[..., None] * v
    elif knobs.context == "late":
        context = softmax(attention_scores(x, weights, n_heads, knobs) @ v)
    else:
        context = attention_weights @ v
    return merge_heads(context, knobs.merge)


def _add_norm(x: Array, skip: Array | float, weights: Weights, name: str, eps: float, knobs: Knobs) -> Array:
    place = "first" if name == "sa_layer_norm" else "second"
    if knobs.norm_at not in ("both", place):
        return layer_norm(x + skip, weights, name, eps)
    if knobs.norm == "before_sum":
        return layer_norm(x, weights, name, eps, knobs.unbiased) + skip
    if knobs.norm in ("none", "pre"):
        return x + skip
    return layer_norm(x + skip, weights, name, eps, knobs.unbiased)


def block(
    hidden_states: Array, weights: Weights, n_heads: int, eps: float, knobs: Knobs = Knobs()
) -> tuple[Array, Array]:
    """-> (output (batch, tokens, dim), attention weights (batch, heads, queries, keys))"""
    x = attention_input(hidden_states, weights, eps, knobs)
    scores = attention_scores(x, weights, n_heads, knobs)
    attention_weights = softmax(scores, knobs.softmax_axis)
    return attention_tail(attention_weights, hidden_states, weights, n_heads, eps, knobs), attention_weights

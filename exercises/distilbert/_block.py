"""One DistilBERT block in float64 NumPy, with a variant for every common mistake.

The default variant is the block of Sanh et al. 2019 (post-LN, exact GELU); a test compares it with ``transformers``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._attention import Array, Weights, gelu, layer_norm, linear, softmax


@dataclass(frozen=True)
class BlockVariant:
    """What a block computes; the defaults are right."""

    scale: str = "once"  # once | never | twice | dim
    softmax_axis: int = -1
    swap_query_key: bool = False
    split: str = "right"  # right | untransposed | interleaved
    merge: str = "right"  # right | untransposed
    transposed_weights: bool = False
    context: str = "values"  # values | columns | keys | late
    activation: str = "gelu"  # gelu | relu | tanh | silu | none
    attention_skip: str = "hidden"  # hidden | none
    ffn_skip: str = "attention"  # attention | none | hidden
    norm: str = "post"  # post | before_sum | none | pre
    norm_at: str = "both"  # both | first | second: the LayerNorms that norm, unbiased and eps change
    eps: float | None = None
    unbiased: bool = False


RIGHT = BlockVariant()


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


def attention_input(hidden_states: Array, weights: Weights, eps: float, variant: BlockVariant = RIGHT) -> Array:
    """The input of the projections: the block's own input, normalised if the block is pre-LN."""
    if variant.norm == "pre":
        return layer_norm(hidden_states, weights, "sa_layer_norm", eps)
    return hidden_states


def attention_scores(x: Array, weights: Weights, n_heads: int, variant: BlockVariant = RIGHT) -> Array:
    """Input of the projections (batch, tokens, dim) -> scores (batch, heads, queries, keys), before the softmax"""
    q = split_heads(linear(x, weights, "q_lin"), n_heads, variant.split)
    k = split_heads(linear(x, weights, "k_lin"), n_heads, variant.split)
    size, dim = q.shape[-1], x.shape[-1]
    factor = {"once": size**-0.5, "never": 1.0, "twice": 1 / size, "dim": dim**-0.5}[variant.scale]
    if variant.swap_query_key:
        q, k = k, q
    return factor * np.einsum("bhqd,bhkd->bhqk", q, k)


def attention_tail(
    attention_weights: Array,
    hidden_states: Array,
    weights: Weights,
    n_heads: int,
    eps: float,
    variant: BlockVariant = RIGHT,
) -> Array:
    """Everything after the softmax: weights (batch, heads, queries, keys) -> output (batch, tokens, dim)"""
    attended = linear(
        attention_context(attention_weights, hidden_states, weights, n_heads, eps, variant), weights, "out_lin"
    )
    skip: Array | float = hidden_states if variant.attention_skip == "hidden" else 0.0
    inner = _add_norm(attended, skip, weights, "sa_layer_norm", eps, variant)
    fed_with = layer_norm(inner, weights, "output_layer_norm", eps) if variant.norm == "pre" else inner
    fed = linear(gelu(linear(fed_with, weights, "lin1"), variant.activation), weights, "lin2")
    skips: dict[str, Array | float] = {"attention": inner, "hidden": hidden_states, "none": 0.0}
    return _add_norm(fed, skips[variant.ffn_skip], weights, "output_layer_norm", eps, variant)


def attention_context(
    attention_weights: Array, hidden_states: Array, weights: Weights, n_heads: int, eps: float, variant: BlockVariant
) -> Array:
    """-> (batch, tokens, dim), the heads merged"""
    x = attention_input(hidden_states, weights, eps, variant)
    v = split_heads(linear(x, weights, "k_lin" if variant.context == "keys" else "v_lin"), n_heads, variant.split)
    if variant.transposed_weights:
        attention_weights = attention_weights.swapaxes(-1, -2)
    if variant.context == "columns":
        context = attention_weights.sum(-2)[..., None] * v
    elif variant.context == "late":
        context = softmax(attention_scores(x, weights, n_heads, variant) @ v)
    else:
        context = attention_weights @ v
    return merge_heads(context, variant.merge)


def _add_norm(x: Array, skip: Array | float, weights: Weights, name: str, eps: float, variant: BlockVariant) -> Array:
    place = "first" if name == "sa_layer_norm" else "second"
    if variant.norm_at not in ("both", place):
        return layer_norm(x + skip, weights, name, eps)
    eps = eps if variant.eps is None else variant.eps
    if variant.norm == "before_sum":
        return layer_norm(x, weights, name, eps, variant.unbiased) + skip
    if variant.norm in ("none", "pre"):
        return x + skip
    return layer_norm(x + skip, weights, name, eps, variant.unbiased)


def block(
    hidden_states: Array, weights: Weights, n_heads: int, eps: float, variant: BlockVariant = RIGHT
) -> tuple[Array, Array]:
    """-> (output (batch, tokens, dim), attention weights (batch, heads, queries, keys))"""
    x = attention_input(hidden_states, weights, eps, variant)
    scores = attention_scores(x, weights, n_heads, variant)
    attention_weights = softmax(scores, variant.softmax_axis)
    return attention_tail(attention_weights, hidden_states, weights, n_heads, eps, variant), attention_weights

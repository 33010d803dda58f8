"""Single-head and multi-head attention in float64, with a variant for each mistake that people make.

The default variant is attention as the assignment defines it. A test compares it with ``torch``'s
``scaled_dot_product_attention``, from which the stored answers come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class AttentionVariant:
    """How the layer computes; the defaults are right."""

    maps: str = "qkv"  # which of W_q, W_k and W_v make queries, keys and values
    scores: str = "product"  # product | queries | keys | elementwise | dimensions | inverted
    softmax: str = "keys"
    scale: str = "once"  # once | never | twice | up | model | all_heads | tokens | late
    swapped: bool = False  # scores of key i with query j
    untransposed: bool = False  # q @ k without a transpose: runs only where n = d_qkv
    transposed: bool = False  # weights transposed before they meet the values
    # values | wrong_axis | late_softmax | queries | keys | weights | scores | elementwise | turned
    mix: str = "values"
    masked: bool = False  # later tokens hidden
    skip: bool = False  # x added to the result
    project: bool = True
    stack: str = "right"  # right | reshaped
    merge: str = "right"  # right | untransposed | interleaved | reversed | first

    @property
    def only_square(self) -> bool:
        """Whether it runs only where there are as many tokens as a query has numbers."""
        wrong_scores = self.scores in ("queries", "keys", "elementwise", "dimensions")
        return self.untransposed or wrong_scores or self.mix in ("weights", "scores", "elementwise", "turned")


DEFAULT = AttentionVariant()


def softmax(scores: Array, kind: str = "keys") -> Array:
    """Scores (..., queries, keys) -> what somebody takes for their softmax; ``keys`` is the right one."""
    axes: dict[str, int | tuple[int, ...]] = {"queries": -2, "all": (-2, -1), "heads": 0}
    axis = axes.get(kind, -1)
    with np.errstate(all="ignore"):
        if kind == "none":
            return scores
        if kind == "shares":
            return np.asarray(scores / scores.sum(axis=-1, keepdims=True))
        if kind == "sigmoid":
            return np.asarray(1 / (1 + np.exp(-scores)))
        if kind in ("unshifted", "undivided"):
            exponentials = np.exp(scores)
            return exponentials if kind == "undivided" else exponentials / exponentials.sum(axis=-1, keepdims=True)
        if kind == "one_shift":
            exponentials = np.exp(scores - scores.max())
        elif kind == "column_shift":
            exponentials = np.exp(scores - scores.max(axis=-2, keepdims=True))
        else:
            shifted = scores if kind != "negative" else -scores
            exponentials = np.exp(shifted - shifted.max(axis=axis, keepdims=True))
        if kind == "shifted_undivided":
            return np.asarray(exponentials)
        if kind == "logarithm":
            return np.asarray(
                shifted - scores.max(axis=-1, keepdims=True) - np.log(exponentials.sum(axis=-1, keepdims=True))
            )
        weights = exponentials / exponentials.sum(axis=axis, keepdims=True)
        return softmax(weights) if kind == "twice" else np.asarray(weights)


def multi_head(inputs: Mapping[str, Array], variant: AttentionVariant = DEFAULT) -> Array:
    """x (n, d_model), W_q, W_k, W_v (heads, d_model, d_qkv), W_o (heads · d_qkv, d_model) -> (n, d_model)"""
    x, w_o = inputs["x"].astype(np.float64), inputs["W_o"].astype(np.float64)
    with np.errstate(all="ignore"):  # a wrong softmax may turn large scores into nan
        heads = _heads(x, [inputs[name].astype(np.float64) for name in ("W_q", "W_k", "W_v")], variant)
        merged = _merge(heads, variant.merge)
        y = merged @ w_o if variant.project else merged
    return y + x if variant.skip and y.shape == x.shape else y


def single_head(inputs: Mapping[str, Array], variant: AttentionVariant = DEFAULT) -> Array:
    """As :func:`multi_head` with W_q, W_k, W_v (d_model, d_qkv) and W_o (d_qkv, d_model)."""
    stacked = {name: inputs[name][None] for name in ("W_q", "W_k", "W_v")}
    return multi_head({**stacked, "x": inputs["x"], "W_o": inputs["W_o"]}, variant)


def _heads(x: Array, projections: list[Array], variant: AttentionVariant) -> Array:
    """-> (heads, n, d_qkv)"""
    made = dict(zip("qkv", (_project(x, w, variant.stack) for w in projections), strict=True))
    q, k, v = (made[name] for name in variant.maps)
    heads, tokens, width = q.shape
    factors = {
        "once": width**-0.5,
        "never": 1.0,
        "late": 1.0,
        "twice": 1 / width,
        "up": width**0.5,
        "model": x.shape[1] ** -0.5,
        "all_heads": (heads * width) ** -0.5,
        "tokens": tokens**-0.5,
    }
    if variant.swapped:
        q, k = k, q
    scores = _scores(q, k, variant, factors[variant.scale])
    if variant.masked:
        scores = np.where(np.tril(np.ones((tokens, tokens), dtype=bool)), scores, -np.inf)
    if variant.mix == "late_softmax":
        return softmax(scores @ v)
    weights = softmax(scores, variant.softmax) * (width**-0.5 if variant.scale == "late" else 1.0)
    if variant.transposed:
        weights = weights.swapaxes(1, 2)
    if variant.mix == "wrong_axis":  # einsum 'ij,jk->jik' summed over the axis of the queries
        return weights.sum(axis=1)[:, :, None] * v
    whole = {"weights": weights, "scores": scores}
    if variant.mix in whole:
        return np.asarray(whole[variant.mix])
    if variant.mix in ("elementwise", "turned"):
        return np.asarray(weights * v if variant.mix == "elementwise" else v @ weights)
    return np.asarray(weights @ {"values": v, "queries": q, "keys": k}[variant.mix])


def _scores(q: Array, k: Array, variant: AttentionVariant, factor: float) -> Array:
    """(heads, queries, keys)"""
    turned = k.swapaxes(1, 2)
    if variant.scores in ("product", "inverted"):
        products = q @ k if variant.untransposed else q @ turned
        return np.asarray(factor * products if variant.scores == "product" else 1 / (factor * products))
    ways = {"queries": q, "keys": turned}
    if variant.scores in ways:
        return np.asarray(factor * ways[variant.scores])
    return np.asarray(factor * (q * turned if variant.scores == "elementwise" else turned @ q))


def _project(x: Array, w: Array, stack: str) -> Array:
    """(n, d_model), (heads, d_model, d_qkv) -> (heads, n, d_qkv)"""
    heads, model, width = w.shape
    if stack == "reshaped":  # the stack made one matrix without moving its axes first
        return (x @ w.reshape(model, heads * width)).reshape(-1, heads, width).transpose(1, 0, 2)
    return x @ w


def _merge(heads: Array, how: str) -> Array:
    """(heads, n, d_qkv) -> (n, heads · d_qkv)"""
    count, tokens, width = heads.shape
    if how == "untransposed":
        return heads.reshape(tokens, count * width)
    if how == "interleaved":
        return heads.transpose(1, 2, 0).reshape(tokens, count * width)
    if how == "reversed":
        heads = heads[::-1]
    if how == "first":
        heads = np.repeat(heads[:1], count, axis=0)
    return heads.transpose(1, 0, 2).reshape(tokens, count * width)

"""Attention of new tokens to cached ones and to each other."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects

NAME = "cached_attention"
B, H, OLD, NEW, D = 2, 3, 4, 3, 7  # D = OLD + NEW: an identity matrix as values shows the weights
ALL = OLD + NEW


@undisturbed
def cached_attention(function: Any) -> None:
    """New tokens see the whole cache, themselves, and new ones before them; the cache grows by what is new."""
    query, key, value = torch.randn(3, B, H, NEW, D)
    old = torch.randn(B, H, OLD, D), torch.randn(B, H, OLD, D)
    _started(function, query, key, value)
    check_side_effects(NAME, lambda q, k, v, *past: _run(function, q, k, v, past)[0], query, key, value, *old)
    _grown(_run(function, query, key, value, old)[1], (key, value), old)
    shown = torch.eye(ALL).expand(B, H, ALL, ALL)  # values that show the weights
    weights = _run(function, query, key, shown[:, :, OLD:], (old[0], shown[:, :, :OLD]))[0]
    _seen(weights)
    gap = (weights[..., 1] / weights[..., 0]).log()
    plain = (query * (old[0][:, :, 1:2] - old[0][:, :, :1])).sum(-1)
    if not close(gap, plain / D**0.5, 1e-3):
        came = "Yours are not divided at all." if close(gap, plain, 1e-3) else "Yours are something else."
        fail(NAME, "the scores are dot products divided by √head_size.", came, "query @ keyᵀ / √head_size")
    finite(NAME, "the output for large scores", _run(function, 1000 * query, key, value, old)[0], "torch's softmax.")
    passed(NAME, "the cache grows", "new tokens see all earlier ones", "none sees a later one")


def _run(function: Any, query: Tensor, key: Tensor, value: Tensor, cache: Any) -> tuple[Tensor, Any]:
    past = "no cache" if cache is None else f"a cache of {cache[0].shape[2]} tokens"
    with running(NAME, f"{query.shape[2]} new tokens and {past}", "Print the shape after every step."):
        found = function(query, key, value, cache)
    if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], tuple | list) and len(found[1]) == 2):
        fail(NAME, "two things come back: the output, and the cache (keys, values).", "Yours gives something else.")
    same_shape(NAME, "the output", found[0], (*query.shape[:3], value.shape[3]), "(batch, heads, new, head_size)")
    return found


def _started(function: Any, query: Tensor, key: Tensor, value: Tensor) -> None:
    output, cache = _run(function, query, key, value, None)
    finite(NAME, "the output without a cache", output, "Each token sees at least itself.")
    if not (torch.equal(cache[0], key) and torch.equal(cache[1], value)):
        fail(NAME, "without a cache, the keys and values of the prompt are the new cache.", "Yours is another.")


def _grown(cache: Any, new: tuple[Tensor, Tensor], old: tuple[Tensor, Tensor]) -> None:
    for what, found, late, early in zip(("keys", "values"), cache, new, old, strict=True):
        same_shape(NAME, f"the cache of {what}", found, (B, H, ALL, D), "(batch, heads, tokens, head_size)")
        if torch.equal(found[:, :, :NEW], late) and torch.equal(found[:, :, NEW:], early):
            fail(NAME, f"the new {what} stand behind the old ones.", "Yours stand before them.", "The order in cat?")
        if not (torch.equal(found[:, :, :OLD], early) and torch.equal(found[:, :, OLD:], late)):
            fail(NAME, f"the cache has the old {what}, then the new ones.", "Yours has other ones.", "torch.cat")


def _seen(weights: Tensor) -> None:
    """weights: (batch, heads, new, all)"""
    finite(NAME, "the output", weights, "Each token sees at least itself.")
    blind = weights[:, :, :, :OLD].amax((0, 1)) < 1e-6
    if blind.any():
        came = f"In yours, new token {int(blind.any(1).nonzero()[0])} does not see some of them."
        look = f"With {OLD} cached and {NEW} new tokens, row 0 of the scores is token {OLD}, not token 0."
        fail(NAME, "every new token sees all cached ones.", came, look)
    ahead = float(weights[:, :, :, OLD:].triu(1).abs().max())
    if ahead > 1e-6:
        came = f"Yours gives later ones weights of up to {ahead:.2g}."
        fail(NAME, "a new token does not see later new ones.", came, "What is hidden, and when? Before the softmax.")
    if not bool((weights[:, :, :, OLD:].diagonal(dim1=-2, dim2=-1) > 1e-6).all()):
        fail(NAME, "a token sees itself, too.", "In yours it does not.", "At which diagonal does the triangle begin?")
    if not close(weights.sum(-1), torch.ones(weights.shape[:-1])):
        came = f"Yours sum to {float(weights[0, 0, 0].sum()):.3g}."
        fail(NAME, "each query's weights sum to 1 over all keys.", came, "Mask first, then softmax over the last axis.")

"""The check of ``apply_multihead_attention``: who depends on whom, the order of heads, then each head's weights."""

from __future__ import annotations

import numpy as np

from course.check.base import close, fail, passed, running, same_shape
from course.check.numpy_attention.single_head import (
    ARGUMENTS,
    TABLE,
    Layer,
    N,
    factors,
    glass,
    judge_mix,
    large,
    random_inputs,
    runs,
)
from course.check.numpy_attention.weights import judge_weights

Array = np.ndarray
HEADS, WIDTH = 8, 32


def glass_heads(size: float = 1.0) -> tuple[Array, Array, Array, Array, Array]:
    """As :func:`single_head.glass` for eight heads: head h's scores are size · its own table (:func:`tables`)."""
    model = HEADS * WIDTH + 2 * N
    x1, q1, k1, v1, _ = glass(WIDTH, size)
    x, padding = np.zeros((N, model)), model - x1.shape[1]
    x[:, padding:] = x1

    def stacked(w: Array) -> Array:
        return np.repeat(np.pad(w, ((padding, 0), (0, 0)))[None], HEADS, axis=0)

    w_k = stacked(k1)
    for head in range(HEADS):
        w_k[head, :, :N] = np.roll(w_k[head, :, :N], head, axis=1) * (1 if head < N else -1)
    return x, stacked(q1), w_k, stacked(v1), np.eye(HEADS * WIDTH, model)


def tables() -> list[Array]:
    """Each head's scores: the columns of TABLE moved on by one from head to head, from head 5 on negated."""
    return [np.roll(TABLE, -head, axis=1) * (1 if head < N else -1) for head in range(HEADS)]


def multihead_attention(function: Layer) -> None:
    name = "apply_multihead_attention"
    runs(name, function, random_inputs(20, heads=HEADS), random_inputs(32, heads=HEADS))
    _own_place(name, function)
    _order(name, function)
    x, w_q, w_k, w_v, w_o = glass_heads()
    with running(name, f"{name}({ARGUMENTS}) with 5 tokens"):
        y = np.asarray(function(x, w_q, w_k, w_v, w_o))
    same_shape(name, "the result", y, x.shape, "(n, d_model)")
    heads = y[:, : HEADS * WIDTH].reshape(N, HEADS, WIDTH)
    first = 1  # head 0 alone would not show whether each takes its own matrices
    _over_heads(name, heads[:, :, :N])
    for head in (first, *range(HEADS)):
        where = f"(looked at in head {head})"
        judge_mix(name, heads[:, head], y[:, HEADS * WIDTH :], x[:, HEADS * WIDTH :], where)
        scale = factors(WIDTH, x.shape[1]) | {
            "they were divided by the root of all heads' widths together": HEADS**-0.5
        }
        judge_weights(name, heads[:, head, :N], tables()[head], scale, where)
    large(name, function, glass_heads(size=2000.0))
    passed(
        name,
        "20 tokens in, 20 out",
        "heads laid end to end in order",
        "each head's weights sum to 1",
        "scores divided by √d_qkv",
    )


def _own_place(name: str, function: Layer) -> None:
    """A change of one head's W_v may only move that head's part of the result."""
    x, w_q, w_k, w_v, w_o = glass_heads()
    changed = w_v.copy()
    changed[3] *= 2.0
    with running(name, f"{name}({ARGUMENTS}) with 5 tokens"):
        difference = np.asarray(function(x, w_q, w_k, changed, w_o)) - np.asarray(function(x, w_q, w_k, w_v, w_o))
    moved = np.abs(difference[:, : HEADS * WIDTH]).max(axis=0) > 1e-9
    parts = [head for head in range(HEADS) if moved[head * WIDTH : (head + 1) * WIDTH].any()]
    if parts == [3]:
        return
    came = f"Yours moves the parts of heads {parts}." if parts else "Yours does not move at all."
    look = "Laid end to end, head 3 has the columns from 3 · d_qkv to 4 · d_qkv. Which axis do you join along?"
    if parts == [HEADS - 4]:
        came, look = "Yours moves the part of head 4.", "The heads stand in reverse order."
    elif len(parts) == HEADS:
        look = (
            "Either numbers of all heads are interleaved, or an axis must be moved before you reshape: "
            "print the shapes before and after."
        )
    fail(name, "W_v[3] concerns head 3 alone.", came, look)


def _order(name: str, function: Layer) -> None:
    """All scores equal, all values of head h equal to h + 1: the result is 1, 1, …, 2, 2, …, 8 for every token."""
    x, w_q, w_k, w_v, w_o = glass_heads()
    marks = x[0].nonzero()[0].max()
    w_v = np.zeros_like(w_v)
    w_v[:, marks : marks + N] = np.arange(1.0, HEADS + 1)[:, None, None]
    with running(name, f"{name}({ARGUMENTS}) with equal scores"):
        y = np.asarray(function(x, np.zeros_like(w_q), w_k, w_v, w_o))[:, : HEADS * WIDTH]
    want = np.repeat(np.arange(1.0, HEADS + 1), WIDTH)
    if close(y, np.tile(want, (N, 1))):
        return
    if not close(y, np.tile(y[0], (N, 1))):
        fail(
            name,
            "where all values are equal, all tokens must come out equal.",
            "Yours differ from token to token.",
            "From (heads, n, d_qkv) to (n, heads, d_qkv) first, and only then to (n, heads · d_qkv).",
        )
    ratio = y[0] / want
    if y.any() and np.ptp(ratio) < 1e-6:
        fail(
            name,
            "where all of a head's values are equal, its output is that value.",
            f"Yours is {ratio[0]:.3g} times that.",
            "Do each query's weights sum to 1 over the keys, in each head by itself?",
        )
    fail(
        name,
        "the outputs are laid end to end: all of head 0, then all of head 1, and so on.",
        f"With 1, 2, … 8 as the heads' values, your first ten numbers are {', '.join(f'{v:.3g}' for v in y[0, :10])}.",
        "Which axis does your concatenation or reshape run along?",
    )


def _over_heads(name: str, weights: Array) -> None:
    if close(weights.sum(axis=1), np.ones((N, N))) and not close(weights.sum(axis=2), np.ones((N, HEADS))):
        fail(
            name,
            "each query's weights must sum to 1 over the keys.",
            "Yours sum to 1 over the heads.",
            "The scores are (heads, queries, keys): which axis does the softmax run along?",
        )

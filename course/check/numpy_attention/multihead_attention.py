"""The check of ``apply_multihead_attention``: who depends on whom, the order of heads, then each head's weights."""

from __future__ import annotations

import numpy as np

from course.check.base import close, fail, passed, running, same_shape
from course.check.numpy_attention._glass import ARGUMENTS, SHOWN, TABLE, Layer, N, glass, random_inputs
from course.check.numpy_attention._layers import factors, judge_mix, large, own_or_ready_softmax, runs
from course.check.numpy_attention._weights import judge_weights

Array = np.ndarray
HEADS, WIDTH = 8, 32


def glass_heads(size: float = 1.0) -> tuple[Array, Array, Array, Array, Array]:
    """As :func:`glass` for eight heads: head h's scores are size · its own table (:func:`tables`)."""
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
    """Shapes at another length, the heads' places in the result, then each head's weights; then large scores."""
    own_or_ready_softmax(function, _look)


def _look(function: Layer) -> None:
    name = "apply_multihead_attention"
    runs(name, function, random_inputs(20, heads=HEADS), random_inputs(32, heads=HEADS))
    _places(name, function)
    x, w_q, w_k, w_v, w_o = glass_heads()
    with running(name, f"{name}({ARGUMENTS}) with 5 tokens"):
        y = np.asarray(function(x, w_q, w_k, w_v, w_o))
    same_shape(name, "the result", y, x.shape, "(n, d_model)")
    heads = y[:, : HEADS * WIDTH].reshape(N, HEADS, WIDTH)
    scale = factors(WIDTH, x.shape[1]) | {"they were divided by the root of all heads' widths together": HEADS**-0.5}
    for head in range(HEADS):
        where = f"(looked at in head {head})"
        judge_mix(name, heads[:, head], y[:, HEADS * WIDTH :], x[:, HEADS * WIDTH :], where)
        judge_weights(name, heads[:, head, SHOWN], tables()[head], scale, where)
    large(name, function, glass_heads(size=2000.0))
    passed(name, "20 tokens in, 20 out", "heads laid end to end", "each query's weights sum to 1", "scaled by √d_qkv")


def _places(name: str, function: Layer) -> None:
    """All scores equal, all values of head h equal to h + 1: the result is 1, 1, …, 2, 2, …, 8 for every token."""
    x, w_q, w_k, w_v, w_o = glass_heads()
    w_v = np.zeros_like(w_v)
    w_v[:, -N:] = np.arange(1.0, HEADS + 1)[:, None, None]  # the last columns of x hold each token's mark
    with running(name, f"{name}({ARGUMENTS}) with equal scores"):
        y = np.asarray(function(x, np.zeros_like(w_q), w_k, w_v, w_o))[:, : HEADS * WIDTH]
    want = np.repeat(np.arange(1.0, HEADS + 1), WIDTH)
    if close(y, np.tile(want, (N, 1))):
        return
    expected = "the heads' outputs are laid end to end: all of head 0, then all of head 1, and so on."
    first = ", ".join(f"{value:.3g}" for value in y[0, :10])
    came = f"With 1, 2, … 8 as the heads' values, your first ten numbers are {first}."
    if not y.any():
        fail(name, "equal scores must become equal weights.", "Yours become 0.", "Is the softmax there?")
    if not close(y, np.tile(y[0], (N, 1))):
        fail(
            name,
            "tokens with equal values must come out equal.",
            "Yours differ from token to token.",
            "From (heads, n, d_qkv) to (n, heads, d_qkv) first, and only then to (n, heads · d_qkv).",
        )
    if np.ptp(y[0] / want) < 1e-6:
        fail(
            name,
            "where all of a head's values are equal, its output is that value.",
            f"Yours is {y[0, 0]:.3g} times that.",
            "Do each query's weights sum to 1 over the keys, in each head by itself, and not over the heads?",
        )
    if close(y[0], np.tile(np.arange(1.0, HEADS + 1), WIDTH)):
        fail(
            name,
            expected,
            came,
            "Yours are interleaved: before two axes become one, the head axis must stand first.",
        )
    if close(y[0], want[::-1]):
        fail(name, expected, came, "Yours stand in reverse order.")
    if close(y[0], np.ones_like(want)):
        fail(name, expected, came, "All of yours are head 0's: does each head take its own matrices?")
    fail(
        name,
        expected,
        came,
        "A reshape never moves an axis. Before the stack becomes one matrix, the head axis must stand beside d_qkv.",
    )

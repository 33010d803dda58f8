"""The stretch goal of notebook 1: attention that reads the keys in blocks. Ungraded."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from course.check.base import as_array, fail, finite, passed, running, same_shape
from course.check.numpy_attention import _ready
from course.check.numpy_attention._ready import Layer, random_inputs
from course.check.stretch import begun

Array = np.ndarray
Blocks = Callable[[Array, Array, Array, int], Array]

NAME = "attention_in_blocks"
EXACT = 1e-10
#: What comes out of the text's three scores with blocks of one key, and what then went wrong.
MISTAKES = {
    21 / 4: "When a larger score came, neither sum was multiplied by e^(old m - new m).",
    7.0: "When a larger score came, s was multiplied by e^(old m - new m), but o was not.",
    15 / 4: "When a larger score came, o was multiplied by e^(old m - new m), but s was not.",
    17 / 3: "All blocks count alike, as if each had the same largest score. Nothing brings them to a common one.",
    9 / 2: "o was divided by s after every block, and then counted again. Divide once, at the end.",
    39 / 7: "The factor is upside down: when m grows, what was summed before counts less.",
    30 / 7: "The scores were not divided by √d, with d the length of a query.",
    (6 * 2**0.5 + 2 * 6**0.5 + 18) / (2**0.5 + 6**0.5 + 2): "The scores were divided by d, not by its root.",
}


def attention_in_blocks(function: Blocks, own: Layer | None = None) -> None:
    """The same as attention over all keys at once, for any block and large scores, and in little memory."""
    if not begun(NAME, function, *_drawn(), 5):
        return
    _by_hand(function)
    queries, keys, values = _drawn()
    for block in (5, 1, 12, 100):
        _same(function, queries, keys, values, block)
    _large(function)
    _memory(function)
    passed(NAME, "any block, the last one short", "scores of 2,000", "never all scores at once")
    _beside(function, own)


def _drawn() -> tuple[Array, Array, Array]:
    """7 queries and 12 keys of 4 numbers, values of 3"""
    draw = np.random.default_rng(0).normal
    return draw(size=(7, 4)), draw(size=(12, 4)), draw(size=(12, 3))


def _scored(*rows: list[float]) -> tuple[Array, Array]:
    """Queries (rows, 4) and keys whose scores, divided by the root of 4, are these rows (at most 4 of them)."""
    scores = np.array(rows)
    keys = np.zeros((scores.shape[1], 4))
    keys[:, : len(scores)] = scores.T
    return 2 * np.eye(4)[: len(scores)], keys


def _called(function: Blocks, queries: Array, keys: Array, values: Array, block: int, look: str = "") -> Array:
    """The result, with its shape looked at; the arguments must stay as they are."""
    given = queries.copy(), keys.copy(), values.copy()
    what = f"{len(queries)} queries, {len(keys)} keys and block = {block}"
    with running(NAME, what, "Print the shape after every step."), np.errstate(all="ignore"):
        out = as_array(function(*given, block))
    same_shape(NAME, "the result", out, (len(queries), values.shape[1]), "(n, d_v)", "One row for each query.")
    for label, now, before in zip(("queries", "keys", "values"), given, (queries, keys, values), strict=True):
        if not np.array_equal(now, before):
            fail(
                NAME, f"{label} must stay as they are.", "Your function changed them.", "-=, *= and /= write in place."
            )
    finite(NAME, f"the results of {what}", out, look)
    return np.asarray(out)


def _same(function: Blocks, queries: Array, keys: Array, values: Array, block: int, look: str = "") -> None:
    """Fails unless the result is that of attention over all keys at once, to ten digits."""
    want = _ready.softmax(queries @ keys.T * queries.shape[1] ** -0.5) @ values
    gap = float(np.abs(_called(function, queries, keys, values, block, look) - want).max())
    if gap > EXACT:
        digits = "Are they kept in float32 somewhere?" if gap < 1e-4 else look or "Which rows of values meet the block?"
        expected = f"{len(keys)} keys in blocks of {block} give what all keys at once give, to {EXACT:g}."
        fail(NAME, expected, f"Yours differs by up to {gap:.2g}.", digits)


def _by_hand(function: Blocks) -> None:
    queries, keys = _scored(np.log([2.0, 6.0, 4.0]).tolist())
    values = np.array([[6.0], [2.0], [9.0]])
    expected = "the scores ln 2, ln 6, ln 4 and the values 6, 2, 9 give 5"
    for block, mistakes in ((1, MISTAKES), (2, {3.0: "The last block, which is a short one, was left out."})):
        out = float(_called(function, queries, keys, values, block)[0, 0])
        if abs(out - 5) > EXACT:
            look = next((says for wrong, says in mistakes.items() if abs(out - wrong) < 1e-6), "")
            look = look or "Compare m, s and o with the table, key by key."
            fail(NAME, f"{expected}, also in blocks of {block}.", f"Yours gives {out:.4g}.", look)


def _large(function: Blocks) -> None:
    values = np.array([[1.0, 0], [0, 2], [3, 3], [0, 5]])
    rising = [-2000.0, 5.0, 1999.0, 2000.0]
    exponential = "The exponential of 2000 does not fit into a float."
    own = "Subtract the largest score of all blocks so far: np.maximum of the old one and that of the block."
    for scores in (rising, rising[::-1]):
        _same(function, *_scored(scores), values, 1, f"{exponential} {own}")
    below = "The largest score so far begins at -np.inf: scores may all lie far below 0."
    _same(function, *_scored([-2003.0, -2001.0, -2002.0, -2000.0]), values, 2, below)
    each = "Each query has a largest score of its own: the maximum of a row, with its axis kept."
    _same(function, *_scored(rising, [-2003.0, -2001.0, -2002.0, -2000.0]), values, 2, each)


def _memory(function: Blocks) -> None:
    """numpy reports what it allocates to tracemalloc: all scores at once would be a megabyte."""
    queries, keys, values = np.ones((32, 2)), np.zeros((4096, 2)), np.ones((4096, 1))
    whole = 8 * len(queries) * len(keys)
    tracemalloc.start()
    try:
        _called(function, queries, keys, values, 16)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > whole / 2:
        expected = "no more than one block of scores is held at a time, n · block numbers."
        came = (
            f"With 32 queries and 4,096 keys yours held {peak / 1e6:.1f} MB; all scores at once are {whole / 1e6:.1f}."
        )
        fail(NAME, expected, came, "Compute the scores inside the loop, and keep m, s and o alone.")


def _beside(function: Blocks, own: Layer | None) -> None:
    """A word on the student's own attention; it has a check of its own."""
    x, w_q, w_k, w_v, w_o = random_inputs(20)
    try:
        want: Any = own(x, w_q, w_k, w_v, w_o) if own else None
        gap = float(np.abs(function(x @ w_q, x @ w_k, x @ w_v, 6) @ w_o - want).max())
    except Exception:  # not written yet, or another shape
        return
    if gap <= EXACT:
        print(f"  The same as your apply_self_attention: they differ by at most {gap:.1g}.")
    else:
        print(
            f"  A thought: your apply_self_attention gives something else, by up to {gap:.2g}. Does it pass its check?"
        )

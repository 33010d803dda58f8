"""Examples that can be computed by hand, in words that teach. Shown where an answer is wrong in no known way."""

from typing import Any

import numpy as np

from course.check.base import close, fail
from course.check.numpy_attention._ready import HEADS, random_inputs


def softmax(function: Any) -> None:
    for given, want in (((0.0, np.log(3.0)), (0.25, 0.75)), ((np.log(2.0), np.log(3.0)), (0.4, 0.6))):
        got = np.asarray(function(np.array([given])))
        if not close(got, [want]):
            look = "e to the power of each number, divided by the sum of these over the row."
            fail("softmax", f"the row {_row(given)} must become {_row(want)}.", f"Yours becomes {_row(got)}.", look)


def self_attention(function: Any) -> None:
    x, w_q, w_k, w_v, w_o = random_inputs(5)
    if np.any(function(x, w_q, w_k, 0 * w_v, w_o)):
        look = "Do the weights meet V, and nothing else?"
        fail("self_attention", "where all values are 0, the result is 0.", "Yours is not.", look)
    shown = np.pad(np.linalg.pinv(x), ((0, 0), (0, 27)))  # x @ it is the identity: the result shows the weights
    weights = np.asarray(function(x, w_q, w_k, shown, np.eye(32, 48)))[:, :5]
    if not close(weights.sum(1), np.ones(5)):
        look = "Scores become weights by a softmax over the keys; nothing else touches them before they meet V."
        came = f"Yours sum to {_row(weights.sum(1))}."
        fail("self_attention", "each query's weights must sum to 1 over the keys.", came, look)
    if close(weights, weights[:, :1] + 0 * weights):
        came = "Yours are the same for every key."
        fail("self_attention", "the weights must come from the dot products of queries and keys.", came)


def multihead_attention(function: Any) -> None:
    x, w_q, w_k, w_v, _ = random_inputs(5, heads=HEADS)
    x[:, -1], w_v = 1.0, 0 * w_v
    w_v[:, -1] = np.arange(1.0, HEADS + 1)[:, None]  # every value of head h is h + 1
    got = np.asarray(function(x, 0 * w_q, w_k, w_v, np.eye(HEADS * 32)))
    if not close(got, np.repeat(np.arange(1.0, HEADS + 1), 32) + np.zeros((5, 1))):
        came = f"With equal scores and 1, 2, … 8 as the heads' values, your first numbers are {_row(got[0, :10])}."
        expected = "the heads' outputs are laid end to end: all of head 0, then all of head 1, and so on."
        fail("multihead_attention", expected, came, "A reshape never moves an axis.")


def _row(numbers: Any) -> str:
    return f"[{', '.join(f'{float(number):.3g}' for number in np.ravel(numbers))}]"

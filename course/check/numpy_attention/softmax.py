"""The check of ``softmax``: rows, known numbers, large numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course.check.base import as_array, axis_that_sums_to_one, close, fail, finite, passed, running, same_shape
from course.check.numpy_attention._weights import row

Array = np.ndarray

#: What somebody who is asked for scores of 0, ln 3 and so on must give.
_KNOWN = {(0.0, np.log(3.0)): (0.25, 0.75), (np.log(2.0), np.log(3.0)): (0.4, 0.6), (5.0, 5.0): (0.5, 0.5)}

_KEPT = "A table of one row stays a table: is an axis taken away at the end (squeeze, [0])?"


def softmax(function: Callable[[Array], Array]) -> None:
    """Rows sum to 1, known rows come out, large numbers do no harm, the argument stays as it was."""
    name = "softmax"
    scores = np.random.default_rng(0).normal(0, 1.5, (3, 5))
    before = scores.copy()
    with running(name, "softmax of an array of shape (3, 5)", "The axis that is summed over must be kept (keepdims)."):
        weights = as_array(function(scores))
    same_shape(name, "the result", weights, (3, 5), "(n, m)", "One weight for each score.")
    finite(name, "the weights", weights)
    if not np.array_equal(scores, before):
        fail(
            name,
            "the argument must stay as it is.",
            "Your function changed it.",
            "-= and /= write into their left side.",
        )
    _rows(name, weights)
    for given, want in _KNOWN.items():
        with running(name, "softmax of one row"):
            got = as_array(function(np.array([given])))
        same_shape(name, "the weights of one row", got, (1, 2), "(1, m)", _KEPT)
        if not close(got, [want]):
            fail(
                name,
                f"the row {row(given)} must become {row(want)}.",
                f"Yours becomes {row(np.ravel(got))}.",
                "e to the power of each number, divided by the sum of these over the row.",
            )
    _large(name, function)
    passed(name, "each row sums to 1", "known rows come out", "large numbers too", "the argument is left alone")


def _rows(name: str, weights: Array) -> None:
    if close(weights.sum(axis=-1), np.ones(len(weights))):
        return
    axis = axis_that_sums_to_one(weights, ("rows", "columns"))
    came = f"Yours sum to 1 over {axis}." if axis else f"The sums of your rows are {row(weights.sum(axis=-1))}."
    fail(name, "each row must sum to 1.", came, "Are both the maximum and the sum told which axis to run along?")


def _large(name: str, function: Callable[[Array], Array]) -> None:
    look = "The exponential of 1000 does not fit into a float. Subtract something from the row first: it cancels."
    for shift in (1000.0, -1000.0):
        with running(name, "softmax of large numbers", look), np.errstate(all="ignore"):
            got = as_array(function(np.array([[0.0, np.log(3.0)]]) + shift))
        finite(name, f"the weights of numbers near {shift:g}", got, look)
        if not close(got, [[0.25, 0.75]]):
            fail(
                name,
                f"adding {shift:g} to a whole row must change nothing.",
                f"Yours becomes {row(np.ravel(got))}.",
                look,
            )
    with running(name, "softmax of rows of very different size", look), np.errstate(all="ignore"):
        got = function(np.array([[900.0, 900.0], [-900.0, -900.0]]))
    finite(name, "the weights, where one row is far below the other,", got, "Each row needs its own maximum.")
    with running(name, "softmax of a row with numbers far apart", look), np.errstate(all="ignore"):
        got = function(np.array([[-900.0, 900.0]]))
    finite(name, "the weights of the row (-900, 900)", got, "Subtract the largest number of the row, and no other.")

"""The nucleus, judged against transformers' own TopPLogitsWarper."""

from __future__ import annotations

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from ..._attention import softmax
from .._generation import Array, before, distributions, known, ranks, renormalised, warped

# Sums of eighths are exact: two words have 3/4 together, and so are enough for p = 0.75.
EXACT = np.array([[1, 4, 1, 2, 0], [2, 0, 1, 4, 1], [4, 2, 1, 1, 0]]) / 8
# Ties inside of the nucleus and outside of it.
TIES = np.array([[1, 5, 1, 5, 2, 2], [4, 4, 4, 2, 1, 1]]) / 16


def make(generator: np.random.Generator) -> list[Case]:
    """Rows whose nuclei differ in size; p below the first probability, p of 1; a sum that is exactly p; ties."""
    drawn = [
        (_clear(generator, 3, 8, 0.8), 0.8),
        (_clear(generator, 2, 7, 0.9), 0.9),
        (_clear(generator, 4, 5, 0.3), 0.3),
        (distributions(generator, 2, 6), 0.01),
        (distributions(generator, 3, 4), 1.0),
        (EXACT.astype(np.float32), 0.75),
        (TIES.astype(np.float32), 0.6),
    ]
    return [Case({"p": p}, {"probabilities": given}, expected={"output": _expected(given, p)}) for given, p in drawn]


def _clear(generator: np.random.Generator, rows: int, words: int, p: float) -> Array:
    """Distributions of which no sum lies so close to p that rounding decides; nuclei of different sizes."""
    while True:
        found = distributions(generator, rows, words)
        sizes = (before(found.astype(np.float64)) < p).sum(-1)
        if np.abs(before(found.astype(np.float64)) - p).min() > 1e-3 and len(set(sizes)) > 1:
            return found


def _expected(probabilities: Array, p: float) -> Array:
    from transformers import TopPLogitsWarper

    if p == 1 or np.array_equal(probabilities, EXACT):  # transformers' logarithms are rounded, and so is its sum
        return renormalised(probabilities.astype(np.float64), _keep(probabilities.astype(np.float64), p))
    return warped(TopPLogitsWarper(p), probabilities)


def _keep(x: Array, p: float) -> Array:
    return before(x) < p


def _shifted(x: Array, p: float) -> Array:
    """Without the word that crosses p, but with one word at least."""
    return renormalised(x, (before(x) + x <= p) | (ranks(x) == 0))


def _without(x: Array, p: float) -> Array:
    with np.errstate(invalid="ignore"):
        return renormalised(x, before(x) + x <= p)


def _from_below(x: Array, p: float) -> Array:
    return renormalised(x, _least(x) < p)


def _least(x: Array) -> Array:
    """How much probability the less likely words of the row have together."""
    result: Array = x.sum(-1, keepdims=True) - before(x) - x
    return result


def _in_order(x: Array, p: float) -> Array:
    result: Array = np.sort(renormalised(x, _keep(x, p)), axis=-1)[:, ::-1]
    return result


def _unsorted(x: Array, p: float) -> Array:
    return renormalised(x, np.cumsum(x, -1) - x < p)


def _unscattered(x: Array, p: float) -> Array:
    ordered = np.sort(x, axis=-1)[:, ::-1]
    return renormalised(x, np.cumsum(ordered, -1) - ordered < p)


def _threshold(x: Array, p: float) -> Array:
    with np.errstate(invalid="ignore"):
        return renormalised(x, x >= p)


MISTAKES = [
    Mistake("TOPP-sum", "The rest was not divided by its sum.", "Each row must sum to 1 again.",
            known("p", lambda x, p: np.where(_keep(x, p), x, 0))),
    Mistake("TOPP-softmax", "A softmax was applied to the probabilities.", "Divide by the sum.",
            known("p", lambda x, p: softmax(np.where(_keep(x, p), x, -np.inf)))),
    Mistake("TOPP-crossing", "The word with which the sum reaches p was removed.",
            "The words that are kept have at least p together: look at the sum before each word.",
            known("p", _shifted)),
    Mistake("TOPP-empty", "The word with which the sum reaches p was removed, even where it is the only one.",
            "The words that are kept have at least p together: look at the sum before each word.",
            known("p", _without)),
    Mistake("TOPP-more", "Where the sum is exactly p, one word too many was kept.",
            "Once the words have p together, the next one goes.",
            known("p", lambda x, p: renormalised(x, before(x) <= p)), share=0.5),
    Mistake("TOPP-least", "The sum begins with the least likely words.", "Sort with descending=True.",
            known("p", _from_below)),
    Mistake("TOPP-unsorted", "The words were not sorted by their probability.", "The likeliest word comes first.",
            known("p", _unsorted)),
    Mistake("TOPP-places", "What was found for the sorted words was applied to the unsorted ones.",
            "Take it back to the words' own places: scatter, or sort the order itself.", known("p", _unscattered)),
    Mistake("TOPP-order", "The probabilities are sorted, and belong to other words now.", "Each word keeps its place.",
            known("p", _in_order)),
    Mistake("TOPP-threshold", "Words with a probability of at least p were kept.",
            "p is compared with the sum over the likeliest words.", known("p", _threshold)),
    Mistake("TOPP-equal", "All words that are left have the same probability.", "They keep their proportions.",
            known("p", lambda x, p: renormalised(np.ones_like(x), _keep(x, p)))),
    Mistake("TOPP-none", "Nothing was removed.", "Words behind the nucleus get 0.", known("p", lambda x, p: x)),
    SIDE_EFFECTS[0],
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch", atol=1e-6)

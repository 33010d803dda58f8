"""The k likeliest words, judged against transformers' own TopKLogitsWarper."""

from __future__ import annotations

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from ..._attention import softmax
from .._generation import Array, distributions, known, ranks, renormalised, warped

TIES = np.array([[4, 2, 1, 2, 2, 1], [1, 1, 1, 1, 1, 7], [1, 3, 3, 1, 2, 2]]) / 12


def make(generator: np.random.Generator) -> list[Case]:
    """k from 1 to beyond the vocabulary, and ties for the last place."""
    drawn = [
        (distributions(generator, 3, 8), 3),
        (distributions(generator, 2, 5), 1),
        (distributions(generator, 4, 6), 6),
        (distributions(generator, 2, 4), 9),
        (TIES.astype(np.float32), 2),
        (distributions(generator, 2, 7, spread=4.0), 2),
    ]
    return [Case({"k": k}, {"probabilities": given}, expected={"output": _expected(given, k)}) for given, k in drawn]


def _expected(probabilities: Array, k: int) -> Array:
    from transformers import TopKLogitsWarper

    return warped(TopKLogitsWarper(k), probabilities)


def _threshold(p: Array, k: int) -> Array:
    """The probability of the k-th word of each row (rows, 1)"""
    return np.sort(p, axis=-1)[:, ::-1][:, min(k, p.shape[1]) - 1 : min(k, p.shape[1])]


def _keep(p: Array, k: int) -> Array:
    return p >= _threshold(p, k)


def _in_order(p: Array, k: int) -> Array:
    result: Array = np.sort(renormalised(p, _keep(p, k)), axis=-1)[:, ::-1]
    return result


def _strictly(p: Array, k: int) -> Array:
    with np.errstate(invalid="ignore"):
        return renormalised(p, p > _threshold(p, k))


MISTAKES = [
    Mistake("TOPK-sum", "The rest was not divided by its sum.", "Each row must sum to 1 again.",
            known("k", lambda p, k: np.where(_keep(p, k), p, 0))),
    Mistake("TOPK-softmax", "A softmax was applied to the probabilities.", "Divide by the sum.",
            known("k", lambda p, k: softmax(np.where(_keep(p, k), p, -np.inf)))),
    Mistake("TOPK-softmax-zero", "A softmax gives words that were removed some probability again.",
            "Divide by the sum.", known("k", lambda p, k: softmax(np.where(_keep(p, k), p, 0.0)))),
    Mistake("TOPK-least", "The least likely words were kept.", "The largest probabilities.",
            known("k", lambda p, k: renormalised(p, -p >= _threshold(-p, k)))),
    Mistake("TOPK-first", "The first k words of the vocabulary were kept.", "The k likeliest.",
            known("k", lambda p, k: renormalised(p, np.arange(p.shape[1]) < k))),
    Mistake("TOPK-order", "The probabilities were sorted, and belong to other words now.",
            "Each word keeps its place.", known("k", _in_order)),
    Mistake("TOPK-more", "One word too many was kept.", "Exactly k, where there are no ties.",
            known("k", lambda p, k: renormalised(p, _keep(p, k + 1)))),
    Mistake("TOPK-strict", "The k-th word itself was removed.", "At least as likely as the k-th: >=.",
            known("k", _strictly)),
    Mistake("TOPK-batch", "All rows have one threshold.", "Each row has its own k likeliest words.",
            known("k", lambda p, k: renormalised(p, p >= _threshold(p, k).min()))),
    Mistake("TOPK-equal", "All words that are left have the same probability.", "They keep their proportions.",
            known("k", lambda p, k: renormalised(np.ones_like(p), _keep(p, k)))),
    Mistake("TOPK-ties", "Of several words that are as likely as the k-th, some were removed.",
            "All of them stay: compare with the k-th probability.",
            known("k", lambda p, k: renormalised(p, ranks(p) < k)), share=0.5),
    Mistake("TOPK-ties-last", "Of several words that are as likely as the k-th, some were removed.",
            "All of them stay: compare with the k-th probability.",
            known("k", lambda p, k: renormalised(p, ranks(p[:, ::-1])[:, ::-1] < k)), share=0.5),
    Mistake("TOPK-none", "Nothing was removed.", "All but the k likeliest words get 0.", known("k", lambda p, k: p)),
    SIDE_EFFECTS[0],
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch", atol=1e-6)

"""Part 2 of the attention block: the scores, read off the attention weights."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_value, named, right, wrong

from .._block import BlockVariant
from .._block_cases import ordinary_cases
from .._scores import PRE_LN, made_of, scores_of

Array = np.ndarray

BOTH_WAYS = "DistilBERT reads in both directions, and each token may look at every token: nothing is masked here."

MISTAKES = [
    Mistake(
        "M2",
        "Your scores are √(size of a head) times too large: they were not divided.",
        "q comes divided by √d_k already in the given code; was that line lost?",
        variant=BlockVariant(scale="never"),
    ),
    Mistake(
        "M3",
        "Your scores are divided by d_k altogether, not by its square root.",
        "The given line above already divides q; the scores need no further division.",
        variant=BlockVariant(scale="twice"),
    ),
    Mistake(
        "M3-dim",
        "Your scores are divided by √dim, the width of the whole model.",
        "Each head has its own, smaller width: the last axis of q.",
        variant=BlockVariant(scale="dim"),
    ),
    Mistake(
        "M4-swap",
        "Query and key have changed places: entry (i, j) is how token j asks for token i.",
        "Rows are queries, columns are keys: which of the two is transposed?",
        variant=BlockVariant(swap_query_key=True),
    ),
    Mistake(
        "M5",
        "The heads are cut out of the wrong axis: a head mixes numbers of different tokens.",
        "First split the last axis into (heads, size), then exchange the token axis with the head axis.",
        variant=BlockVariant(split="untransposed"),
    ),
    Mistake(
        "M5-inter",
        "The heads are interleaved: neighbouring features went to different heads.",
        "The last axis splits into (heads, size), in this order.",
        variant=BlockVariant(split="interleaved"),
    ),
    Mistake("M10-causal", "No token sees the tokens after it: a causal mask was applied.", BOTH_WAYS),
    Mistake("M10-diagonal", "No token sees itself: the diagonal was masked.", BOTH_WAYS),
    Mistake(
        "M3-factor",
        "Your scores are {factor:.3g} times what they should be.",
        "The only factor is one over the square root of a head's size, and the given code applies it.",
    ),
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    weights = answers.arrays.get("weights")
    shape = compare_value("weights", weights, case.expected["weights"].astype(np.float32), exercise)
    if weights is None or weights.shape != case.expected["weights"].shape or weights.dtype.kind != "f":
        return wrong("scores", shape.message, shape.hint)
    given = weights.astype(np.float64)
    if not np.isfinite(given).all():
        return wrong("scores", shape.message, shape.hint)
    if made_of(given, scores_of(case)) or made_of(given, scores_of(case, PRE_LN)):
        return right("scores")
    if (given == 0).any():
        return _masked(exercise, given)
    for mistake in exercise.mistakes:
        if mistake.variant is not None and made_of(given, scores_of(case, mistake.variant)):
            return mistake.judgement()
    return _multiplied(exercise, given, scores_of(case))


def _masked(exercise: Exercise, given: Array) -> Judgement:
    """Some weights are 0: which ones tells the kind of mask."""
    zero, tokens = given == 0, given.shape[-1]
    if (zero == np.triu(np.ones((tokens, tokens), bool), 1)).all():
        return named(exercise, "M10-causal")
    if (zero == np.eye(tokens, dtype=bool)).all():
        return named(exercise, "M10-diagonal")
    message = "Some weights are zero; a softmax of these scores never gives such a number."
    return wrong("scores", message, "Is anything masked, clipped or rounded here?")


def _multiplied(exercise: Exercise, given: Array, scores: Array) -> Judgement:
    """The factor that explains the scores best, if any does."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(given)
    x = scores - scores.mean(-1, keepdims=True)
    y = logs - logs.mean(-1, keepdims=True)
    factor = float((x * y).sum() / (x * x).sum())
    if abs(factor) > 1e-2 and np.abs(y - factor * x).max() < 2e-3 * max(1.0, abs(factor)):
        return named(exercise, "M3-factor", factor=factor)
    return wrong(
        "scores",
        "The attention scores are not the dot products of queries and keys.",
        "Which axis of k must meet which axis of q? Write both shapes down.",
    )


EXERCISE = Exercise(ordinary_cases, judge, MISTAKES, framework="torch")

"""References for the block's scores, read off the weights as logarithms.

Whatever axis they were normalised over, the scores are seen: one mistake costs its own points only.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, compare_value
from autograder.oracles import attention
from autograder.oracles.attention import Knobs
from autograder.oracles.distilbert_block import ordinary
from autograder.oracles.judgements import TurnedKnobs, named, right, wrong

Array = np.ndarray


#: In what order axes are tried: the right one first. The last entry is a softmax over each head's whole matrix.
AXES: tuple[tuple[int, ...], ...] = ((-1,), (-2,), (1,), (0,), (-2, -1))


def scores_of(case: Case, knobs: Knobs = Knobs()) -> Array:
    """(batch, heads, queries, keys) in float64, of somebody who turned these knobs"""
    hidden_states = case.inputs["hidden_states"].astype(np.float64)
    x = attention.attention_input(hidden_states, case.weights, float(case.config["eps"]), knobs)
    return attention.attention_scores(x, case.weights, int(case.config["n_heads"]), knobs)


def summed_axes(weights: Array) -> tuple[int, ...] | None:
    """The axes over which the weights sum to 1; None where there are none."""
    return next((axes for axes in AXES if np.allclose(weights.sum(axis=axes), 1, atol=1e-4)), None)


def made_of(weights: Array, scores: Array) -> bool:
    """True where these scores stand behind these weights, whatever was done to make weights of them.

    A softmax over a wrong axis, a second softmax, another function, dropout or nothing at all: that is the business
    of the next part.
    """
    axes = summed_axes(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(weights)
    if axes is None:
        return _alike(weights, scores) or _alike(weights, attention.sigmoid(scores)) or _one_shift(logs, scores, (-1,))
    if (weights < 0).any():
        return _alike(weights * scores.sum(-1, keepdims=True), scores)  # divided by the sum, without an exponential
    if (weights == 0).any():
        return False  # zeros in rows that sum to 1: something was masked
    return _one_shift(logs, scores, axes) or made_twice(weights, scores)


def made_twice(weights: Array, scores: Array) -> bool:
    """True where a softmax was made of the softmax of these scores."""
    return bool((weights > 0).all()) and _one_shift(np.log(weights), attention.softmax(scores), (-1,))


def _alike(first: Array, second: Array) -> bool:
    return bool(np.allclose(first, second, atol=1e-4, rtol=1e-3))


def _one_shift(logs: Array, scores: Array, axes: tuple[int, ...]) -> bool:
    """True where along the axes both differ by one number, that of the softmax; weights of zero are left out."""
    seen = np.isfinite(logs)
    # of one number alone anything is true, and dropout leaves most of them
    if seen.mean() < 0.5 or not seen.any(axis=axes).all():
        return False
    difference = np.where(seen, logs, 0) - scores
    highest = np.where(seen, difference, -np.inf).max(axis=axes)
    lowest = np.where(seen, difference, np.inf).min(axis=axes)
    return bool((highest - lowest).max() < 2e-3)


#: Scores of normalised tokens: the LayerNorm stands in the wrong place, and that costs the last part's points.
PRE_LN = Knobs(norm="pre")

SCORE_MISTAKES = [
    TurnedKnobs(
        "M2",
        "Your scores are √(size of a head) times too large: they were not divided.",
        "q comes divided by √d_k already in the given code; was that line lost?",
        Knobs(scale="never"),
    ),
    TurnedKnobs(
        "M3",
        "Your scores are divided by d_k altogether, not by its square root.",
        "The given line above already divides q; the scores need no further division.",
        Knobs(scale="twice"),
    ),
    TurnedKnobs(
        "M3-dim",
        "Your scores are divided by √dim, the width of the whole model.",
        "Each head has its own, smaller width: the last axis of q.",
        Knobs(scale="dim"),
    ),
    TurnedKnobs(
        "M4-swap",
        "Query and key have changed places: entry (i, j) is how token j asks for token i.",
        "Rows are queries, columns are keys: which of the two is transposed?",
        Knobs(swap_query_key=True),
    ),
    TurnedKnobs(
        "M5",
        "The heads are cut out of the wrong axis: a head mixes numbers of different tokens.",
        "First split the last axis into (heads, size), then exchange the token axis with the head axis.",
        Knobs(split="untransposed"),
    ),
    TurnedKnobs(
        "M5-inter",
        "The heads are interleaved: neighbouring features went to different heads.",
        "The last axis splits into (heads, size), in this order.",
        Knobs(split="interleaved"),
    ),
]


def judge_scores(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
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
        return _masked(given)
    for known in SCORE_MISTAKES:
        if made_of(given, scores_of(case, known.knobs)):
            return named(known.id, known.message, known.hint)
    return _fitted(given, scores_of(case))


def _masked(given: Array) -> Judgement:
    """Which weights are zero: of a mask, that tells the kind."""
    zero, tokens = given == 0, given.shape[-1]
    both_ways = "DistilBERT reads in both directions, and each token may look at every token: nothing is masked here."
    if (zero == np.triu(np.ones((tokens, tokens), bool), 1)).all():
        return named("M10-causal", "No token sees those behind it: a causal mask was applied.", both_ways)
    if (zero == np.eye(tokens, dtype=bool)).all():
        return named("M10-diagonal", "No token sees itself: the diagonal was masked.", both_ways)
    message = "Some weights are zero; a softmax of these scores never gives such a number."
    return wrong("scores", message, "Is anything masked, clipped or rounded here?")


def _fitted(given: Array, scores: Array) -> Judgement:
    """What factor explains the scores best, where one explains them at all."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(given)
    x = scores - scores.mean(-1, keepdims=True)
    y = logs - logs.mean(-1, keepdims=True)
    factor = float((x * y).sum() / (x * x).sum())
    if abs(factor) > 1e-2 and np.abs(y - factor * x).max() < 2e-3 * max(1.0, abs(factor)):
        return named(
            "M3-factor",
            f"Your scores are {factor:.3g} times what they should be.",
            "The only factor is one over the square root of a head's size, and the given code applies it.",
        )
    return wrong(
        "scores",
        "The attention scores are not the dot products of queries and keys.",
        "Which axis of k must meet which axis of q? Write both shapes down.",
    )


EXERCISE = Exercise(ordinary, judge_scores, framework="torch", slug="distilbert/attention_scores")

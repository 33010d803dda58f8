"""References for the block's scores, read off the weights as logarithms.

Whatever axis they were normalised over, the scores are seen: one mistake costs its own points only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograder.compare import compare_value
from autograder.exercise import Answers, Case, Exercise, Judgement
from autograder.oracles import attention
from autograder.oracles.attention import Knobs
from autograder.oracles.distilbert_block import ordinary
from autograder.oracles.judgements import TurnedKnobs, named, right, wrong

Array = np.ndarray


def scores_of(case: Case, knobs: Knobs = Knobs()) -> Array:
    return attention.attention_scores(
        case.inputs["hidden_states"].astype(np.float64), case.weights, int(case.config["n_heads"]), knobs
    )


def _fits(log_weights: Array, scores: Array, axes: Sequence[int] = (-1, -2, 1, 0)) -> bool:
    """True where the weights are these scores, exponentiated and normalised over one of the axes."""
    difference = log_weights - scores
    spread = min(float(np.ptp(difference, axis=axis).max()) for axis in axes)
    return spread < 2e-3


SCORE_MISTAKES = [
    TurnedKnobs(
        "M2",
        "Your scores are √(size of a head) times too large: they were not divided.",
        "q comes divided by √d_k already in the given code; was that line lost?",
        Knobs(scale="never"),
    ),
    TurnedKnobs(
        "M3",
        "Your scores are divided by √d_k twice.",
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
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(given)
    scores = scores_of(case)
    if np.isfinite(logs).all() and _fits(logs, scores):
        return right("scores")
    if np.allclose(given, scores, atol=1e-4, rtol=1e-3):  # no softmax at all: that costs the next step's points
        return right("scores")
    if not np.isfinite(logs).all():
        message = "Some weights are zero, negative or not finite; a softmax never gives such a number."
        return wrong("scores", message, "Is anything masked, clipped or subtracted here?")
    for known in SCORE_MISTAKES:
        if _fits(logs, scores_of(case, known.knobs)):
            return named(known.id, known.message, known.hint)
    if _fits(given, attention.softmax(scores)) or _fits(logs, attention.softmax(scores)):
        return named("M3-softmax", "The softmax was applied twice.", "Once is enough.")
    return _fitted(logs, scores)


def _fitted(logs: Array, scores: Array) -> Judgement:
    """What factor explains the scores best, where one explains them at all."""
    x = scores - scores.mean(-1, keepdims=True)
    y = logs - logs.mean(-1, keepdims=True)
    factor = float((x * y).sum() / (x * x).sum())
    if np.abs(y - factor * x).max() < 2e-3 * max(1.0, abs(factor)):
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


EXERCISE = Exercise("distilbert/attention_scores", ordinary, judge_scores)

"""The scores of ``DotProductAttention``: every query with every key, divided by √k.

Judged by what the output shows of them; where it shows nothing, by what ``calculate_score`` itself gives.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    named,
    right,
    without_side_effects,
    wrong,
)

from ..._attention import softmax
from .._attention_cases import draw, torch_attention
from .._dot_products import AttentionVariant, attention, scores

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    """One head. Value j is a 1 at place j, so that the output *is* the attention weights, (b, t, k) with k > t."""
    cases = []
    for b, t, k in ((2, 5, 7), (3, 4, 6)):
        case = draw(generator, b, t, 1, k)
        values = np.broadcast_to(np.eye(t, k, dtype=np.float32)[None, :, None], (b, t, 1, k)).copy()
        inputs = {**case.inputs, "values": values}
        cases.append(Case({}, inputs, expected={"output": torch_attention(**inputs)}))
    return cases


def known(id: str, message: str, hint: str, variant: AttentionVariant) -> Mistake:
    """A mistake whose output is the attention with such scores."""

    def answers(case: Case) -> dict[str, Array]:
        return {"output": attention(*(case.inputs[name] for name in ("queries", "keys", "values")), variant)}

    return Mistake(id, message, hint, answers, variant)


SCORE_MISTAKES = [
    known("M2", "The scores are √k times too large: they were not divided.",
          "k is the length of one query or key: the last axis.", AttentionVariant(scale="never")),
    known("M3", "The scores are divided by k; by its square root they should be.",
          "Or was the division by √k done twice?", AttentionVariant(scale="by_k")),
    known("M3-tokens", "The scores are divided by the root of the number of tokens.",
          "Dot products grow with the length of the vectors: the last axis.", AttentionVariant(scale="tokens")),
    known("M3-up", "The scores are multiplied by √k.", "Large dot products are what has to be tamed.",
          AttentionVariant(scale="multiplied")),
    known("M4-swap", "Row i shows how token i is found by the others; it must show what token i's query finds.",
          "Rows are queries, columns are keys: which of the two is transposed?", AttentionVariant(swapped=True)),
]  # fmt: skip
MISTAKES = [
    *SCORE_MISTAKES,
    Mistake("M2-half", "The scores are nearly right: something computes them with too few digits.",
            "Scores keep the precision of queries and keys: no half, no round."),
    Mistake("M1-scores", "calculate_score gives weights: there is a softmax in it, and forward applies another.",
            "calculate_score ends with the division; the softmax is in step 4, after the mask."),
    Mistake("M2-double", "calculate_score gives double-precision numbers: the product with the values stops.",
            "The scores keep the precision of queries and keys."),
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    shown = _judge_shown(exercise, case, answers)
    score = answers.arrays.get("score")
    if shown.earned == 1 and score is not None and _rounded(score, _scores(case)):
        return named(exercise, "M2-half")
    if shown.earned == 1 and score is not None and _softmax_twice(score, answers.arrays["output"], _scores(case)):
        return named(exercise, "M1-scores")
    if shown.earned == 1 or any(check.mistake for check in shown.checks) or score is None:
        return shown
    want = _scores(case)
    if score.shape != want.shape or score.dtype.kind != "f":
        message = f"calculate_score must give shape {want.shape} = (b * h, t, t); yours is {score.shape}."
        return wrong("scores", message, "Which axis of the keys must meet the last of the queries?")
    if np.allclose(score, want, atol=1e-4, rtol=1e-3):
        double = score.dtype.itemsize > 4 and "output" not in answers.arrays
        return named(exercise, "M2-double") if double else right("scores")
    for mistake in SCORE_MISTAKES:
        if np.allclose(score, _scores(case, mistake.variant), atol=1e-4, rtol=1e-3):
            return mistake.judgement()
    return _unknown()


def _judge_shown(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the output shows of the scores."""
    problem = _wrong_shape(answers, case.expected["output"])
    if problem:
        return Judgement([problem])
    weights = answers.arrays["output"][..., : case.inputs["queries"].shape[1]].astype(np.float64)  # (b, queries, keys)
    if not np.isfinite(weights).all():
        return wrong("scores", "Some weights are not finite (nan or inf).", "Is anything divided by zero?")
    if _comes_from(weights, _scores(case)):
        return right("scores")
    transposed = np.allclose(weights.sum(-2), 1, atol=1e-4)
    if transposed and _comes_from(weights.swapaxes(-1, -2), _scores(case)):
        return right("scores")  # right scores, weights transposed: judged elsewhere
    for mistake in SCORE_MISTAKES:
        if _comes_from(weights, _scores(case, mistake.variant)):
            return mistake.judgement()
    return _unknown()


def _wrong_shape(answers: Answers, want: Array, name: str = "output") -> Check | None:
    """Why this answer cannot be compared at all; None where it can."""
    got = answers.arrays.get(name)
    if got is None:
        return Check(name, False, "Nothing came.", "Does forward return the result?")
    if got.dtype.kind != "f":
        return Check(name, False, "Expected floating-point numbers.", "Are the weights rounded or compared somewhere?")
    if got.shape != want.shape:
        message = f"Expected shape {want.shape} = (b, t, h * k), but yours is {got.shape}."
        return Check(name, False, message, "Print the shape after every step.")
    return None


def _rounded(score: Array, want: Array) -> bool:
    """True where the scores are right but for a few digits."""
    off = np.abs(score - want).max() if score.shape == want.shape and score.dtype.kind == "f" else 0.0
    return bool(5e-5 < off / np.abs(want).max() < 1e-2)


def _softmax_twice(score: Array, output: Array, want: Array) -> bool:
    """True where calculate_score gives a softmax of the right scores, and the output is not made of that alone."""
    for axis in (-1, -2, 0):
        weights = softmax(want, axis)
        if score.shape == want.shape and np.allclose(score, weights, atol=1e-4):
            return not np.allclose(output[..., : want.shape[-1]], weights, atol=1e-4)
    return False


def _unknown() -> Judgement:
    return wrong(
        "scores",
        "The scores are not the dot products of queries and keys, divided by √k.",
        "Write both shapes down: which axis of the keys must meet which axis of the queries?",
    )


def _scores(case: Case, variant: AttentionVariant = AttentionVariant()) -> Array:
    """(b, queries, keys) of the one head"""
    queries, keys = (case.inputs[name][:, :, 0].astype(np.float64) for name in ("queries", "keys"))
    return scores(queries, keys, 1, variant)


def _comes_from(weights: Array, s: Array) -> bool:
    """True where the weights are these scores, or a softmax of them over whatever axis, once or twice."""
    if np.allclose(weights, s, atol=1e-4, rtol=1e-3):
        return True
    if (weights <= 0).any():
        return False
    logs = np.log(weights)
    axes = (-1, -2, 0)
    exponents = [s, *(softmax(s, axis) for axis in axes)]
    return any(float(np.ptp(logs - exponent, axis=axis).max()) < 2e-3 for exponent in exponents for axis in axes)


EXERCISE = Exercise(make, without_side_effects(judge), MISTAKES, framework="torch", axes={"output": "b, t, k"})

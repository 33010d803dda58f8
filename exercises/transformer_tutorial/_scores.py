"""The rule of the exercise on scores: no visible check judges by it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, named, right, without_side_effects, wrong

from .._attention import Array, softmax


def _scores(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the output shows of the scores; where it shows nothing, what ``calculate_score`` itself gives."""
    shown, score, want = _shown(exercise, case, answers), answers.arrays.get("score"), case.expected["score"]
    if score is None or (shown.earned < 1 and any(check.mistake for check in shown.checks)):
        return shown
    if shown.earned == 1:
        if _is_rounded(score, want):
            return named(exercise, "M2-half")
        return named(exercise, "M1-scores") if _softmax_twice(score, answers.arrays["output"], want) else shown
    if score.shape != want.shape or score.dtype.kind != "f":
        message = f"calculate_score must give shape {want.shape} = (b * h, t, t); yours is {score.shape}."
        return wrong("scores", message, "Which axis of the keys must meet the last of the queries?")
    if np.allclose(score, want, atol=1e-4, rtol=1e-3):
        double = score.dtype.itemsize > 4 and "output" not in answers.arrays
        return named(exercise, "M2-double") if double else right("scores")
    for mistake, scores in _mistaken_scores(exercise, case):
        if np.allclose(score, scores, atol=1e-4, rtol=1e-3):
            return mistake.judgement()
    return _unknown_scores()


def _shown(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the output shows of the scores: value j is a 1 at place j, so that it is the weights."""
    got, want = answers.arrays.get("output"), case.expected["output"]
    if got is None:
        return wrong("output", "Nothing came.", "Does forward return the result?")
    if got.dtype.kind != "f":
        return wrong("output", "Expected floating-point numbers.", "Are the weights rounded or compared somewhere?")
    if got.shape != want.shape:
        message = f"Expected shape {want.shape} = (b, t, h * k), but yours is {got.shape}."
        return wrong("output", message, "Print the shape after every step.")
    weights = got[..., : case.inputs["queries"].shape[1]].astype(np.float64)  # (b, queries, keys)
    if not np.isfinite(weights).all():
        return wrong("scores", "Some weights are not finite (nan or inf).", "Is anything divided by zero?")
    if _comes_from(weights, case.expected["score"]):
        return right("scores")
    transposed = np.allclose(weights.sum(-2), 1, atol=1e-4)
    if transposed and _comes_from(weights.swapaxes(-1, -2), case.expected["score"]):
        return right("scores")  # right scores, weights transposed: judged elsewhere
    for mistake, scores in _mistaken_scores(exercise, case):
        if _comes_from(weights, scores):
            return mistake.judgement()
    return _unknown_scores()


def _mistaken_scores(exercise: Exercise, case: Case) -> Iterator[tuple[Mistake, Array]]:
    for mistake in exercise.mistakes:
        if "score" in (made := exercise.made_by(mistake, case)):
            yield mistake, made["score"].astype(np.float64)


def _unknown_scores() -> Judgement:
    message = "The scores are not the dot products of queries and keys, divided by √k."
    look = "Write both shapes down: which axis of the keys must meet which axis of the queries?"
    return wrong("scores", message, look)


def _is_rounded(score: Array, want: Array) -> bool:
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


def _comes_from(weights: Array, scores: Array) -> bool:
    """True where the weights are these scores, or a softmax of them over whatever axis, once or twice."""
    if np.allclose(weights, scores, atol=1e-4, rtol=1e-3):
        return True
    if (weights <= 0).any():
        return False
    logs, axes = np.log(weights), (-1, -2, 0)
    exponents = [scores, *(softmax(scores, axis) for axis in axes)]
    return any(float(np.ptp(logs - exponent, axis=axis).max()) < 2e-3 for exponent in exponents for axis in axes)


attention_scores = without_side_effects(_scores)

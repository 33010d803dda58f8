"""Rules of the exercises on attention, and the mistakes that they name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from safetensors import safe_open

from course.tokenizer import TOKENIZER_FILE

from .._rules import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    Rule,
    compare_case,
    compare_value,
    find_mistake,
    named,
    right,
    shared_equally,
    without_side_effects,
    wrong,
)

Array = np.ndarray


#: The other exercises on the class: they have their own points.
OTHER_STEPS = tuple(f"transformer_tutorial/attention_{part}" for part in ("scores", "output", "dropout", "heads"))
DTYPE = Mistake(
    "DTYPE", "The values are right, but they are no float32: the rest of the model cannot go on with them.",
    "Print the dtype after every step; x.to(y.dtype) gives x the dtype of y.",
)  # fmt: skip
WHOLE = Mistake(
    "WHOLE", "With ready-made steps beside it this one is right; your class as it stands gives something else.",
    "Do the other checks pass? Then: does every step use what the one before it made, under the same name?",
)  # fmt: skip
STOPS = Mistake(
    "WHOLE-stops", "With ready-made steps beside it this one is right; your class as it stands does not run.",
    "Give it queries, keys, values and a mask: the last line of the error says where it stops.",
)  # fmt: skip


def best_of(rule: Rule, *beginnings: str) -> Rule:
    """The best of several ways to run the answer, the first of equals: what each gives begins with its own word."""

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        def run(beginning: str) -> Judgement:
            own, expected = (
                {name.removeprefix(beginning): array for name, array in arrays.items() if name.startswith(beginning)}
                for arrays in (answers.arrays, case.expected)
            )
            return rule(exercise, replace(case, expected={**case.expected, **expected}), replace(answers, arrays=own))

        judged = [run(beginning) for beginning in beginnings]
        return max(judged, key=lambda one: (one.earned, any(check.mistake for check in one.checks)))

    return judge


def _in_words(message: str, hint: str) -> Rule:
    """The default rule; where numbers of the right shape are wrong in no known way, these words."""

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement = compare_case(exercise, case, answers)
        got, want = answers.arrays.get("output"), case.expected["output"]
        if judgement.earned == 1 or got is None or got.shape != want.shape or got.dtype.kind != "f":
            return judgement
        if not np.isfinite(got).all() and any(mistake.id == "M1-overflow" for mistake in exercise.mistakes):
            return named(exercise, "M1-overflow")
        return judgement if any(check.mistake for check in judgement.checks) else wrong("output", message, hint)

    return judge


_mixed = _in_words(
    "The output is not the values, mixed by the weights of each query.",
    "Which axis of the weights runs over the keys, and which axis of the values does?",
)
_folded = _in_words(
    "With several heads the output is not what each head gives by itself.",
    "Fold, attend, unfold: follow one number of head 1 through every step.",
)


def _masked(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The numbers of real tokens count; what comes out for a padded query must be a number, and no more."""
    got, want, real = answers.arrays.get("output"), case.expected["output"], case.inputs["mask"][..., None]
    check = compare_value("output", got, want, exercise)
    if check.passed or got is None or got.shape != want.shape or got.dtype.kind != "f":
        return Judgement([check])
    shown = np.where(real, got, want)
    if np.allclose(shown, want, rtol=exercise.rtol, atol=exercise.atol):
        return right("output") if np.isfinite(got).all() else named(exercise, "M10-rows")
    if not np.isfinite(got[case.inputs["mask"]]).any():
        return named(exercise, "M10-nan")
    known = {key: {"output": np.where(real, made["output"], want)} for key, made in case.mistakes.items() if made}
    if mistake := find_mistake(exercise, replace(case, mistakes=known), replace(answers, arrays={"output": shown})):
        return mistake.judgement()
    message = "What a real token collects still depends on the padding."
    return wrong("output", message, "A key that is padding must get the weight 0; the other weights must sum to 1.")


def _mask_and_whole(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The mask by itself; then the class as it stands, unless another step lost points: that had its price."""
    judgement = best_of(_masked, "", "ready_", "ready_2_")(exercise, case, answers)
    if judgement.earned < 1 or answers.charged(*OTHER_STEPS):
        return judgement
    output = answers.arrays.get("output")
    if output is None:
        return named(exercise, "WHOLE-stops")
    if _masked(exercise, case, answers).earned < 1:
        return named(exercise, "WHOLE")
    return judgement if output.dtype == np.float32 else named(exercise, "DTYPE")


def _dropped(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Value j is a 1 at place j, and a 1 at place t: so outputs are the weights as they were used, and their sum."""
    want = case.expected["evaluated"]
    for name in ("trained", "evaluated", "again", "undropped"):
        got = answers.arrays.get(name)
        if got is None or got.shape != want.shape or got.dtype.kind != "f":
            return Judgement([compare_value(name, got, want, exercise)])
    trained, evaluated = (answers.arrays[name].astype(np.float64) for name in ("trained", "evaluated"))
    if not np.allclose(evaluated, answers.arrays["again"], atol=1e-6):
        return named(exercise, "M16")
    if not evaluated.any():
        message = "Every output is 0, so that nothing shows whether weights are dropped."
        return wrong("evaluated", message, "First the weights mix the values; only then does dropout show.")
    check = compare_value("evaluated", evaluated, answers.arrays["undropped"], exercise)  # wrong weights have a price
    mistake = _dropout(trained, evaluated, case) if check.passed else None
    return named(exercise, mistake) if mistake else Judgement([check])


def _dropout(trained: Array, evaluated: Array, case: Case) -> str | None:
    """The id of the mistake that the outputs in train and in eval mode, (b, t, k), show; None where all is right."""
    t = case.inputs["queries"].shape[1]
    used, weights = trained[..., :t], evaluated[..., :t]
    dropped = used == 0
    by_key = dropped.all(1) | ~dropped.any(1)  # (b, keys)
    kept = used[~dropped] / np.where(weights == 0, np.inf, weights)[~dropped]
    made = {
        "none": np.allclose(used, weights, atol=1e-6), "scores": not dropped.any(), "values": by_key.all(),
        "output": not np.allclose(trained[..., t], used.sum(-1), atol=1e-4),
        "unscaled": np.allclose(kept, 1, atol=1e-3),
        "rate": not np.allclose(kept, 1 / (1 - case.config["rate"]), atol=1e-2),
    }  # fmt: skip
    return next((f"DROPOUT-{mistake}" for mistake, is_made in made.items() if is_made), None)


mixed = without_side_effects(best_of(_mixed, "", "ready_"))
folded = without_side_effects(best_of(_folded, "", "ready_"))
masked = without_side_effects(_mask_and_whole)
dropped = best_of(_dropped, "", "ready_")


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
        weights = _softmax(want, axis)
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
    exponents = [scores, *(_softmax(scores, axis) for axis in axes)]
    return any(float(np.ptp(logs - exponent, axis=axis).max()) < 2e-3 for exponent in exponents for axis in axes)


def _softmax(x: Array, axis: int = -1) -> Array:
    weights: Array = np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))
    return weights


attention_scores = without_side_effects(_scores)


QUERY = "bank"
#: A ratio may be off by this share of it: three digits after the point are enough.
TOLERANCE = 1e-3
#: Words whose numbers differ by less are equally right.
TIE = 1e-5
STEPS = "ask gives the weights, in the order of the words, and the value."
#: Of the points, where one of three is wrong.
BANK_LEFT = 2 / 3
RATIO = "One number: the largest weight, divided by the smallest."

BANK_SMALLEST = Mistake("bank-smallest", "heaviest is the word with the smallest weight.", "argmax finds the largest.",
                   share=BANK_LEFT)  # fmt: skip
BANK_INVERSE = Mistake("bank-inverse", "ratio is the smallest weight divided by the largest.", RATIO, share=BANK_LEFT)
BANK_SCORES = Mistake("bank-scores", "ratio is made of the scores, before the softmax.", RATIO, share=BANK_LEFT)
BANK_UNSCALED = Mistake(
    "bank-unscaled", "ratio is made of scores that nobody divided by the root of 384.", RATIO, share=BANK_LEFT
)
BANK_QUERY = Mistake("bank-query", "nearest is the word most similar to the query.",
                        "Which word is most similar to the value, the weighted sum?", share=BANK_LEFT)  # fmt: skip


@cache
def _rows() -> dict[str, int]:
    """Whole words of the vocabulary, of three letters and more -> row of the table."""
    vocabulary = json.loads(TOKENIZER_FILE.read_text(encoding="utf-8"))["model"]["vocab"]
    return {word: row for word, row in vocabulary.items() if len(word) > 2 and word.isascii() and word.isalpha()}


def _vectors(words: list[str]) -> Array:
    """(words, dim), in float64. Only these rows of the file are read."""
    with safe_open(TOKENIZER_FILE.with_name("model.safetensors"), "numpy") as state:
        table = state.get_slice("embeddings.word_embeddings.weight")
        return np.concatenate([table[row : row + 1] for row in (_rows()[word] for word in words)]).astype(np.float64)


def bank_reading(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """A third of the points for each of heaviest, ratio and nearest, whatever the context."""
    words = _words(answers.text("context"))
    unknown = [word for word in words if word not in _rows()]
    least, most = case.expected["counts"].tolist()
    if unknown or not least <= len(words) <= most or len({*words, QUERY}) <= len(words):
        message = f"context: expected {least} to {most} different words of the vocabulary, without bank."
        if unknown:
            message += f" This one is not in the vocabulary: {unknown[0]!r:.40}."
        return wrong("context", message, 'One text, with spaces between the words. "fly" in vectors tells about fly.')
    query, keys = _vectors([QUERY])[0], _vectors(words)
    products = keys @ query
    scores = products / np.sqrt(len(query))
    weights = _softmax(scores)
    heaviest, nearest = ("".join(_words(answers.text(name))) for name in ("heaviest", "nearest"))
    return shared_equally([
        _best("heaviest", heaviest, words, weights, BANK_SMALLEST, -weights),
        _ratio(answers.arrays.get("ratio"), scores, products),
        _best("nearest", nearest, words, _cosines(keys, weights @ keys), BANK_QUERY, _cosines(keys, query)),
    ])  # fmt: skip


def _words(text: Any) -> list[str]:
    return text.lower().split() if isinstance(text, str) else []


def _cosines(keys: Array, vector: Array) -> Array:
    return keys @ vector / np.linalg.norm(keys, axis=1) / np.linalg.norm(vector)


def _best(name: str, word: str, words: list[str], numbers: Array, mistake: Mistake, mistaken: Array) -> Check:
    """Whether ``word`` has the largest of the numbers; ``mistaken``: the numbers by which a known mistake finds one."""
    if word in words and numbers[words.index(word)] >= numbers.max() - TIE:
        return Check(name, True)
    if word in words and mistaken[words.index(word)] == mistaken.max():
        return mistake.check()
    message = f"{name}: another word of your context" if word in words else f"{name}: expected a word of your context"
    return Check(name, False, f"{message}{' has a larger number' if word in words else ''}.", STEPS)


def _ratio(said: Array | None, scores: Array, products: Array) -> Check:
    if said is None or said.size != 1 or said.dtype.kind not in "fiu":
        return Check("ratio", False, "ratio: expected a number.", RATIO)
    number, right = float(said.reshape(())), float(np.exp(np.ptp(scores)))
    unscaled, of_scores = np.exp(np.ptp(products)), scores.max() / scores.min()
    known = ((BANK_UNSCALED, unscaled), (BANK_SCORES, of_scores), (BANK_INVERSE, 1 / right))
    if abs(number - right) <= TOLERANCE * right:
        return Check("ratio", True)
    for mistake, value in known:
        if abs(number - value) <= TOLERANCE * abs(value):
            return mistake.check()
    return Check("ratio", False, "ratio: the largest and the smallest of your weights give another number.", RATIO)

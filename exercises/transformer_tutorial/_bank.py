"""The rule of the exercise on the word bank: no visible check judges by it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from safetensors import safe_open

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, shared_equally, wrong
from course.tokenizer import TOKENIZER_FILE

from .._attention import Array, softmax

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
    weights = softmax(scores)
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

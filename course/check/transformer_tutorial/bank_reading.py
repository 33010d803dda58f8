"""Attention over a context of the student's own: its words, its largest weight, and where the value lies."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from course.check.base import fail, passed
from course.word_vectors import WordVectors

NAME = "bank_reading"
STEPS = "ask gives the weights, in the order of the words, and the value."


def bank_reading(context: Any, heaviest: Any, ratio: Any, nearest: Any) -> None:
    """Everything is computed anew from the words of ``context``."""
    vectors = WordVectors.load()
    words = _words(context, vectors)
    keys, query = vectors.of(words), vectors["bank"]
    weights = (keys @ query / len(query) ** 0.5).softmax(dim=0)
    value = weights @ keys
    _best("heaviest", "has the largest weight", heaviest, words, weights)
    try:
        number = float(ratio)
    except (TypeError, ValueError):
        fail(NAME, "ratio is a number.", f"Yours is {ratio!r:.60}.", "The largest weight, divided by the smallest.")
    right = float(weights.max() / weights.min())
    if not abs(number - right) <= 1e-3 * right:  # nan is not right, either
        fail(NAME, "ratio is the largest weight divided by the smallest.", f"Yours is {number:.4g}.", STEPS)
    cosines = F.cosine_similarity(keys, value[None], dim=1)
    _best("nearest", "is most similar to the value", nearest, words, cosines)
    passed(NAME, "a context of your own", "its weights", "the word nearest to the value")


def _words(context: Any, vectors: WordVectors) -> list[str]:
    """The words of a context, if it is one."""
    expected = "context holds five to eight different words of the vocabulary, in one text."
    if not isinstance(context, str):
        fail(NAME, expected, f"Yours is {type(context).__name__}.", 'Write it in quotes: "first second third".')
    words = context.lower().split()
    for word in words:
        if word not in vectors:
            fail(NAME, expected, f"{word!r:.40} is not in it.", f'"{word:.40}" in vectors tells; try another word.')
    if "bank" in words:
        fail(NAME, "bank is the query, and no word of the context.", "Yours has it.", "Choose another word.")
    if not 5 <= len(words) == len(set(words)) <= 8:
        fail(NAME, expected, f"Yours has {len(words)} words, {len(set(words))} of them different.")
    return words


def _best(name: str, what: str, word: Any, words: list[str], numbers: Tensor) -> None:
    expected = f"{name} is the word of your context that {what}."
    if not isinstance(word, str) or word.strip().lower() not in words:
        fail(NAME, expected, f"Yours is {word!r:.60}.", "It is one of the words in context.")
    if float(numbers.max() - numbers[words.index(word.strip().lower())]) > 1e-5:
        fail(NAME, expected, f"For {word!r:.60} that is not so.", STEPS)

"""The probability of a word at the masked place."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.transformer_tutorial._calls import undisturbed


@undisturbed
def masked_word_probability(function: Any) -> None:
    """Probabilities over the whole vocabulary, read at the mask."""
    name = "masked_word_probability"
    logits = torch.randn(6, 9)
    position, words = 2, [3, 7]
    with running(name, "logits of shape (tokens, vocabulary) = (6, 9)", "One row belongs to the mask."):
        given = function(logits, position, words)
    if isinstance(given, list | tuple):
        came = f"Yours is a {type(given).__name__}."
        fail(name, "the result is a tensor (words,).", came, "Pick all words at once: row[word_ids].")
    with running(name, "reading the result as a tensor"):
        got = torch.as_tensor(given).float()
    same_shape(name, "the result", got, (2,), "(words,)", "One probability for each word.")
    every = torch.as_tensor(function(logits, position, list(range(9)))).float()
    if not close(every.sum(), torch.tensor(1.0)) or float(every.min()) < 0:
        fail(
            name,
            "the probabilities of all words of the vocabulary sum to 1.",
            f"Yours sum to {float(every.sum()):.3g}.",
            "A softmax over the vocabulary, at the mask.",
        )
    if not close(got, every[words]):
        fail(
            name,
            "a word's probability does not depend on which other words are asked for.",
            "In yours it does.",
            "First the softmax over the whole vocabulary, then pick.",
        )
    elsewhere = logits.clone()
    elsewhere[[0, 1, 3, 4, 5]] += torch.randn(5, 9)
    if not close(torch.as_tensor(function(elsewhere, position, words)).float(), got):
        fail(name, "only the logits at the mask matter.", "In yours others do, too.", "Choose the mask's row first.")
    ratio = float((got[0] / got[1]).log()) - float(logits[position, 3] - logits[position, 7])
    if abs(ratio) > 1e-3:
        fail(
            name,
            "the ratio of two probabilities is e to the power of the difference of their logits.",
            "Yours is not.",
            "Is it a softmax, once, and of the right row?",
        )
    finite(
        name,
        "the result for large logits",
        function(logits + 900, position, words),
        "torch's own softmax does no harm there.",
    )
    passed(name, "all words together sum to 1", "read at the mask", "large logits do no harm")

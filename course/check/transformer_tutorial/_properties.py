"""Examples that can be computed by hand, in words that teach. Shown where an answer is wrong in no known way."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail


def mean_pooling(function: Any) -> None:
    value = torch.linspace(-1, 1, 5)
    alike = function(value.expand(2, 4, 5).clone(), torch.arange(4) < torch.tensor([4, 2])[:, None])
    if not close(alike, value.expand(2, 5)):
        came = f"For a sentence of 2 words and 2 pads, yours is {float(alike[1, 0] / value[0]):.3g} times it."
        look = "By how many must the sum be divided?"
        fail("mean_pooling", "the average of equal vectors is that vector.", came, look)


def masked_word_probability(function: Any) -> None:
    logits = torch.randn(6, 9)
    every = torch.as_tensor(function(logits, 2, list(range(9)))).float()
    if not close(every.sum(), torch.tensor(1.0)) or float(every.min()) < 0:
        came = f"Yours sum to {float(every.sum()):.4g}."
        expected = "the probabilities of all words of the vocabulary sum to 1."
        fail("masked_word_probability", expected, came, "A softmax over the vocabulary, at the mask.")

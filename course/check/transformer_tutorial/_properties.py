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


def attention_heads(student_class: Any) -> None:
    """One number of the input changes: which outputs change?"""
    b, t, h, k = 2, 5, 3, 4
    attention, given = student_class(0.0).eval(), [torch.randn(b, t, h, k) for _ in range(3)]
    before = attention(*given, b, h, t, k)
    for head in range(h):
        changed = given[2].clone()
        changed[0, :, head] += 1  # of one head of sentence 0, and nothing else
        moved = (attention(*given[:2], changed, b, h, t, k) - before).abs() > 1e-4
        if bool(moved[1:].any()):
            came = f"A change in sentence 0, head {head}, moved the output of sentence 1."
            look = "Fold and unfold must agree on the order of batch and heads."
            fail("attention_heads", "the sentences of a batch must not touch each other.", came, look)
        places = moved[0].unflatten(-1, (h, k)).any(-1).any(0).nonzero().flatten().tolist()
        if places != [head]:
            expected = f"a change in head {head} must move the numbers from {head * k} to {head * k + k - 1}."
            came = f"In yours it moves the numbers of the heads {places}."
            fail("attention_heads", expected, came, "In which order must the axes stand before two can become one?")

"""Padding in ``DotProductAttention``."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, finite, passed
from course.check.transformer_tutorial._calls import attend, make, undisturbed


@undisturbed
def attention_mask(kind: Any) -> None:
    """With a mask, padding has no say: the rest comes out as if it were not there."""
    name = "attention_mask"
    attention = make(name, kind, 0.0).eval()
    t, h, k, lengths = 5, 2, 3, (5, 3, 2)
    queries, keys, values = (torch.randn(len(lengths), t, h, k) for _ in range(3))
    mask = torch.arange(t) < torch.tensor(lengths)[:, None]
    masked = attend(name, attention, queries, keys, values, mask)
    for sentence, length in enumerate(lengths):
        finite(
            name,
            "what the real tokens collect",
            masked[sentence, :length],
            "A softmax over nothing but minus infinity is nan; so is minus infinity times 0.",
        )
        short = [x[sentence : sentence + 1, :length].contiguous() for x in (queries, keys, values)]
        if close(masked[sentence, :length], attend(name, attention, *short)[0]):
            continue
        bare = attend(name, attention, queries, keys, values)
        came = (
            "The mask changes nothing in yours."
            if close(masked, bare)
            else f"Sentence {sentence} of yours is different."
        )
        fail(
            name,
            "a sentence with padding must give what it gives without, on its real tokens.",
            came,
            "True marks a real token. A padded key must end with the weight 0, in every head of its sentence.",
        )
    finite(
        name,
        "what the padded tokens collect",
        masked,
        "Only keys are masked. A padded token may ask, too: a row with nothing but minus infinity is nan.",
    )
    passed(name, "padding gets no attention", "the real tokens' weights still sum to 1")

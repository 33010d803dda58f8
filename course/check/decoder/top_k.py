"""The k likeliest words, by what must be true of them."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import passed
from course.check.decoder._generation import filtered, same_words
from course.check.modules import undisturbed


@undisturbed
def top_k(function: Any) -> None:
    """The likeliest words are left in each row, in their old proportions."""
    name, look = "top_k", "What is the probability of the k-th word of each row?"
    given = torch.tensor([[0.1, 0.4, 0.2, 0.3], [0.6, 0.05, 0.15, 0.2]])
    everything = [[0, 1, 2, 3]] * 2
    for k, want in ((2, [[1, 3], [0, 3]]), (1, [[1], [0]]), (3, [[1, 2, 3], [0, 2, 3]]), (4, everything)):
        same_words(name, filtered(name, function, given, k, "k"), want, given, f"k = {k}", look)
    more = "With k above the size of the vocabulary, every word stays: min(k, size)."
    same_words(name, filtered(name, function, given, 9, "k"), everything, given, "k = 9", more)
    ties = torch.tensor([[0.2, 0.4, 0.2, 0.2], [0.1, 0.35, 0.2, 0.35]])
    same = "Words that are as likely as the k-th stay, too: compare with its probability."
    same_words(name, filtered(name, function, ties, 2, "k"), [[0, 1, 2, 3], [1, 3]], ties, "k = 2", same)
    passed(name, "the likeliest words of each row", "ties stay", "k may be larger than the vocabulary")

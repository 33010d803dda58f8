"""The loss of a language model."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects

B, T, V = 2, 5, 7


@undisturbed
def next_word_loss(function: Any) -> None:
    """The mean cross-entropy of each word, given those before it."""
    name = "next_word_loss"
    ids = torch.tensor([[1, 4, 2, 6, 0], [3, 3, 5, 1, 2]])

    def loss(logits: Tensor) -> Tensor:
        with running(name, f"logits ({B}, {T}, {V}) and ids ({B}, {T})", "Print the shape after every step."):
            value = function(logits, ids)
        same_shape(name, "the loss", value, (), "one number", "The mean over all words of all rows.")
        result: Tensor = value
        return result

    check_side_effects(name, loss, torch.randn(B, T, V))
    even = float(loss(torch.zeros(B, T, V)))
    if abs(even - math.log(V)) > 1e-4:
        ratio = even / math.log(V)
        came = f"Yours is {even:.3f}, that is {ratio:.3g} times as much."
        fail(
            name, f"equal logits for {V} words make a loss of ln {V} = {math.log(V):.3f}.", came, "A mean, natural log."
        )
    sure = 30 * torch.nn.functional.one_hot(ids, V).float()
    right, same, before = (torch.roll(sure, shift, 1) for shift in (-1, 0, 1))
    if float(loss(right)) > 1e-3:
        came = f"Yours is {float(loss(right)):.3g}."
        if float(loss(same)) < 1e-3:
            came = "Yours is 0 for logits that name the word they stand at: nothing would be left to predict."
        elif float(loss(before)) < 1e-3:
            came = "Yours is 0 for logits that name the word before."
        look = "The logits at place i predict the word at place i + 1."
        fail(name, "logits that are sure of the next word make a loss of nearly 0.", came, look)
    last = right.clone()
    last[:, -1] = torch.randn(B, V)
    if not close(loss(last), loss(right), 1e-4):
        fail(
            name, "behind the last word nothing is known.", "In yours its logits count.", "T words: T - 1 predictions."
        )
    for place in range(T - 1):
        unsure = right.clone()
        unsure[:, place] = 0
        if not close(loss(unsure), torch.tensor(math.log(V) / (T - 1)), 1e-3):
            fail(
                name, "every prediction counts alike.", f"In yours, place {place} counts otherwise.", "The mean of all."
            )
    finite(name, "the loss for large logits", loss(1000 * torch.randn(B, T, V)), "F.cross_entropy takes logits.")
    passed(name, f"equal logits: ln {V}", "sure of the next word: 0", "nothing behind the last word")

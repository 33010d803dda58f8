"""Examples that can be computed by hand, in words that teach. Shown where an answer is wrong in no known way."""

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
    """Numbers that say where they come from: 100 · sentence + 10 · token + head."""
    name, attention, (b, t, h) = "attention_heads", student_class(0.0), (2, 3, 2)
    origin = (100 * torch.arange(b)[:, None, None] + 10 * torch.arange(t)[:, None] + torch.arange(h)).float()
    look = "In which order must the axes stand before two can become one?"
    for row, numbers in enumerate(attention.fold(origin[..., None])[..., 0]):
        wanted = origin[row // h, :, row % h]
        if not close(numbers, wanted):
            said = "of 100 · sentence + 10 · token + head"
            came = f"Yours holds {_row(numbers)}."
            fail(name, f"{said}, row {row} of the folded batch must hold {_row(wanted)}.", came, look)
    rows = torch.stack([origin[row // h, :, row % h] for row in range(b * h)])
    for token, numbers in enumerate(attention.unfold(rows[..., None], h)[0]):
        if not close(numbers, origin[0, token]):
            expected = f"of 100 · sentence + 10 · token + head, token {token} must get {_row(origin[0, token])} back."
            fail(name, expected, f"Yours gets {_row(numbers)}.", look)


def _row(numbers: torch.Tensor) -> str:
    return ", ".join(f"{float(number):.0f}" for number in numbers)

"""The whole classifier, with the parts that the notebook has."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.modules import make, undisturbed

K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES = 6, 2, 3, 9, 11, 4


@undisturbed
def classifier_whole(student_class: Any) -> None:
    """Made of its own parts, the classifier treats every sentence by itself, and padding has no say."""
    name = "classifier_whole"
    model = make(name, student_class, K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES)
    ids = torch.randint(1, TOKENS, (3, 5))
    out = _run(name, model, ids)
    if not close(_run(name, model, ids), out):
        fail(
            name,
            "the same ids must give the same log-probabilities twice.",
            "Yours differ.",
            "Is something kept from one call to the next, or drawn anew?",
        )
    alone = torch.cat([_run(name, model, row) for row in ids.split(1)])
    if not close(alone, out, 1e-4):
        fail(
            name,
            "a sentence has the same log-probabilities alone and in a batch.",
            "Yours differ.",
            "Which part mixes the sentences of a batch?",
        )
    padded = torch.cat([ids, torch.zeros(3, 2, dtype=ids.dtype)], dim=1)
    if not close(_run(name, model, padded), out, 1e-4):
        fail(
            name,
            "padding after a sentence must change nothing.",
            "It changes the log-probabilities of yours.",
            "Every block needs the mask, and so does the average.",
        )
    if close(_run(name, model, ids.roll(1, dims=1)), out, 1e-6):
        fail(
            name,
            "the order of the words must matter.",
            "Sentences of the same words in another order have the same log-probabilities.",
            "Do the positions reach the blocks?",
        )
    passed(name, "alone and in a batch alike", "padding has no say", "the order of words matters")


def _run(name: str, model: Any, ids: Tensor) -> Tensor:
    with running(name, f"ids of shape (b, t) = {tuple(ids.shape)}", "Print the shape after every step."):
        out: Tensor = model(ids)
    look = "One vector per sentence must reach the head."
    same_shape(name, "the output", out, (len(ids), CLASSES), "(b, classes)", look)
    finite(name, "the output", out)
    return out

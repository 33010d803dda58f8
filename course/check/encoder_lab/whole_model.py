"""Notebook 1: all classes of ``models.py`` put together."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed, running, same_shape
from course.check.encoder_lab._models_file import FILE, module_of, unread
from course.check.encoder_lab._stand_ins import first
from course.check.modules import make, undisturbed

#: Sizes of a small model, no two of them equal.
SIZES = (11, 8, 6, 3, 10, 4)
IDS = torch.tensor([[3, 7, 1, 9, 2], [2, 5, 4, 9, 6], [2, 5, 4, 6, 9]])


@undisturbed
def whole_model(student_class: Any) -> None:
    """Made of its own parts, the model treats every sentence by itself, and knows the order of its words."""
    name = "whole_model"
    for why in unread(module_of(student_class)).values():
        fail(FILE, "Python must be able to import the file.", f"{why}.", "Code that only tries something out can go.")
    model = make(name, student_class, *SIZES, 4, 0.5)
    for tokens in (5, 2, 1):
        ids = IDS[:, :tokens]
        with running(name, f"the model, made of your own classes, on ids of shape {tuple(ids.shape)}"):
            logits, again = first(model(ids)), first(model(ids))
            alone = torch.cat([first(model(row)) for row in ids.split(1)])
        same_shape(name, "the logits", logits, (3, 4), "(batch, classes)")
        if not close(again, logits):
            came, look = "Yours differs from call to call.", "nn.Dropout knows of eval mode; F.dropout has to be told."
            fail(name, "in eval mode the same input gives the same output.", came, look)
        if not close(alone, logits, 1e-4):
            fail(
                name,
                "a sentence has the same logits alone and in a batch.",
                "Yours differ.",
                "Which class mixes the sentences of a batch? Or is something kept from one call to the next?",
            )
    logits = first(model(IDS))
    if float((logits[1] - logits[2]).abs().max()) < 1e-6:
        fail(
            name,
            "the order of the words must matter.",
            "Two sentences of the same words in another order have the same logits.",
            "Do the positions reach the layers?",
        )
    passed(name, "sentences of several lengths", "alone and in a batch alike", "the order of words matters")

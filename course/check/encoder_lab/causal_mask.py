"""Notebook 1: the causal mask."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import fail, passed, same_shape
from course.check.encoder_lab._ladder import run
from course.check.modules import undisturbed


@undisturbed
def causal_mask(function: Any) -> None:
    """1 where a token may look, 0 where it may not: at what comes later."""
    name = "causal_mask"
    mask = torch.as_tensor(run(name, function, 4))
    same_shape(
        name, "the mask", mask, (1, 4, 4), "(1, queries, keys)", "The 1 in front stands for every sentence of a batch."
    )
    allowed = mask[0] != 0
    if not bool(allowed.diagonal().all()):
        fail(
            name,
            "every token may look at itself.",
            "On the diagonal of yours stands a 0.",
            "Where does the triangle begin?",
        )
    if bool(allowed[0, 1:].any()) and not bool(allowed[1:, 0].any()):
        fail(
            name,
            "row i is what token i may see: what came before it, and itself.",
            "In yours it may see what comes after it.",
            "The ones belong below the diagonal.",
        )
    if bool(allowed.triu(1).any()):
        fail(name, "no token may look at a later one.", "Above the diagonal of yours stands something else than 0.")
    if not bool(allowed[-1].all()):
        fail(name, "the last token may look at all of them.", "In yours it may not.")
    if not bool(((mask == 0) | (mask == 1)).all()):
        fail(name, "the mask holds ones and zeros.", f"Yours also holds {mask[(mask != 0) & (mask != 1)][0].item():g}.")
    passed(name, "ones up to the diagonal, zeros behind it")

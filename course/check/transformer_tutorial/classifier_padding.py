"""Padding in ``Transformer``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed
from course.check.transformer_tutorial._calls import undisturbed
from course.check.transformer_tutorial._classifier import TOKENS, bare_model, run


@undisturbed
def classifier_padding(kind: Any) -> None:
    """A sentence gets the same answer with and without padding, and the blocks are told what is padding."""
    name = "classifier_padding"
    model, blocks = bare_model(name, kind)
    short = torch.randint(1, TOKENS, (2, 3))
    long = torch.cat([short, torch.zeros(2, 4, dtype=torch.long)], dim=1)
    if not close(run(name, model, short), run(name, model, long), 1e-3):
        fail(
            name,
            "four tokens of padding (id 0) must not change the answer.",
            "They change yours.",
            "Average over real tokens only.",
        )
    for number, block in enumerate(blocks):
        masks = [given for given in block.seen[-1][1:] if isinstance(given, Tensor)] if block.seen else []
        if not masks or not torch.equal(masks[0].bool(), long != 0):
            came = f"Block {number} of yours gets {'a different one' if masks else 'none'}."
            look = "A block takes the states and the mask."
            fail(name, "each block is given the mask: true for a real token.", came, look)
    passed(name, "padding does not change the answer", "the blocks get the mask")

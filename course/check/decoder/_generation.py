"""What the checks and hidden cells of notebook 2 share: a model of stored tables, and a chooser without chance."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class StoredModel:
    """A model of three tables: each word's own logits, what it carries on to later words, and those of its place."""

    def __init__(self, own: Tensor, carried: Tensor, places: Tensor) -> None:
        self.own, self.carried, self.places = own, carried, places

    def __call__(self, ids: Tensor) -> Tensor:
        """ids (batch, tokens) -> logits (batch, tokens, vocabulary)"""
        count = torch.arange(1, ids.shape[1] + 1)
        before = self.carried[ids].cumsum(1) / count[:, None]
        result: Tensor = self.own[ids] + before + self.places[(count - 1) % len(self.places)]
        return result


class Chooser:
    """Gives choose its words, and counts in ``asked`` how often it does. pick: logits (1, vocabulary) -> ids (1,)"""

    def __init__(self, pick: Callable[[Tensor], Tensor]) -> None:
        self.pick, self.asked = pick, 0

    def __call__(self, logits: Tensor) -> Tensor:
        if logits.ndim != 2 or logits.shape[0] != 1:
            given = f"choose takes logits of shape (1, vocabulary), not {tuple(logits.shape)}"
            raise ValueError(f"{given}; model gives (1, tokens, vocabulary)")
        self.asked += 1
        return self.pick(logits)


def closest_to_zero() -> Chooser:
    """A chooser that tells logits from probabilities, and is never greedy."""
    return Chooser(lambda logits: logits.abs().argmin(-1))

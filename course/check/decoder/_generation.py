"""What the checks and hidden cells of notebook 2 share: a model of stored tables, and a chooser without chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course.check.base import as_array, fail, finite, running, same_shape, to_numpy


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
            raise ValueError(f"choose takes logits of shape (1, vocabulary), not {tuple(logits.shape)}")
        self.asked += 1
        return self.pick(logits)


def closest_to_zero() -> Chooser:
    """A chooser that tells logits from probabilities, and is never greedy."""
    return Chooser(lambda logits: logits.abs().argmin(-1))


def filtered(name: str, function: Callable[..., Any], given: Tensor, value: float, option: str) -> Tensor:
    """What a function of this notebook makes of rows of numbers: rows of probabilities, else CheckFailed."""
    copy = given.clone()
    with running(name, f"{option} = {value:g} with rows of shape {tuple(given.shape)}", "Print every shape."):
        found = as_array(function(copy, value))
    look = "Every word keeps its place."
    same_shape(name, "the probabilities", found, tuple(given.shape), "(batch, vocabulary)", look)
    finite(name, f"probabilities for {option} = {value:g}", found, "A row of which nothing is left cannot be divided.")
    if not torch.equal(copy, given):
        fail(name, "what goes in must come out as it went in.", "Yours was changed in place.", "Make new tensors.")
    result = torch.as_tensor(to_numpy(found)).double()
    sums = result.sum(-1)
    if not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        look = "Each row sums to 1 over its words, the last axis."
        fail(name, "probabilities sum to 1.", f"With {option} = {value:g} yours sum to {float(sums[0]):.3g}.", look)
    return result


def kept(probabilities: Tensor) -> list[list[int]]:
    """The words of each row with a probability above 0."""
    return [row.nonzero().flatten().tolist() for row in probabilities]


def same_words(name: str, found: Tensor, want: list[list[int]], given: Tensor, what: str, look: str) -> None:
    """Fails unless just these words are left in each row, in their old proportions."""
    for row, (have, wanted) in enumerate(zip(kept(found), want, strict=True)):
        if have != wanted:
            words = ", ".join(f"{value:.3g}" for value in given[row].tolist())
            fail(name, f"{what}: of the row {words} the words {wanted} are left.", f"Yours keeps {have}.", look)
    mask = found > 0
    left = torch.where(mask, given.double(), 0.0)
    if not torch.allclose(found, left / left.sum(-1, keepdim=True), atol=1e-5):
        fail(name, "words that are left keep their proportions.", "Yours have others.", "Divide by the sum of the row.")

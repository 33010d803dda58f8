"""The induction score, by what must be true of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import as_array, close, fail, passed, running, same_shape, to_numpy
from course.check.modules import undisturbed

PERIOD, TOKENS = 4, 10


@undisturbed
def induction_score(function: Any) -> None:
    """How much weight the queries of the repetitions give to the token behind their own earlier copy."""
    name = "induction_score"

    def scores(weights: Tensor) -> Any:
        with running(name, f"weights of shape {tuple(weights.shape)} and period {PERIOD}", "Print every shape."):
            found = as_array(function(weights, PERIOD))
        same_shape(name, "the scores", found, (weights.shape[1],), "(heads,)", "One number for each head.")
        return torch.as_tensor(to_numpy(found))

    even = scores(torch.full((2, 3, TOKENS, TOKENS), 0.1))
    if not close(even, torch.full((3,), 0.1)):
        came = f"Yours scores {float(even[0]):.3g}."
        fail(name, "a head that gives 0.1 to every key scores 0.1.", came, "The mean over queries and over the batch.")
    for offset, what in (
        (1, "one token back"),
        (PERIOD, "at its own earlier copy"),
        (PERIOD - 2, "two tokens behind its copy"),
    ):
        if float(scores(_looking_back(offset))[0]) > 1e-4:
            look = f"The copy stands {PERIOD} tokens back. Which token came right behind it?"
            fail(name, f"a head that looks {what} is no induction head.", "Yours gives it a score.", look)
    behind = _looking_back(PERIOD - 1)
    behind[..., PERIOD - 1, :] = 0  # the last query without an earlier copy
    right = float(scores(behind)[0])
    if abs(right - 1) > 1e-4:
        came = f"Yours gives it {right:.3g}."
        look = f"Queries {PERIOD} to {TOKENS - 1} have an earlier copy; earlier ones have none and do not count."
        fail(name, "a head that always looks behind the earlier copy scores 1.", came, look)
    mixed = torch.stack([_looking_back(PERIOD - 1)[0], _looking_back(1)[0]])
    if abs(float(scores(mixed)[0]) - 0.5) > 1e-4:
        fail(name, "the score is the mean over the batch.", "Yours is not.", "A mean over batch and queries.")
    passed(name, "one number a head", "the token behind the copy", "queries with a copy only")


def _looking_back(offset: int) -> Tensor:
    """Weights (1, 1, tokens, tokens) of a head that looks so many tokens back; queries without such a key at none."""
    return torch.diag_embed(torch.ones(TOKENS - offset), -offset)[None, None]

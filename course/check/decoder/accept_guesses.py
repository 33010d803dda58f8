"""The stretch goal of notebook 3: several guessed words, verified in one step. Ungraded."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from course.check.base import fail, passed, running
from course.check.modules import undisturbed
from course.check.stretch import begun

WORDS = torch.tensor([5, 2, 7, 7, 1])  # what the model itself would write


@undisturbed
def accept_guesses(function: Any) -> None:
    """The guesses that the model would have written, up to the first other one, and then its own word."""
    name = "accept_guesses"
    logits = 9.0 * F.one_hot(WORDS, 8) + torch.rand(5, 8)
    if not begun(name, function, logits, WORDS[:4]):
        return
    for guesses, want, words in (
        ([5, 2, 7, 7], 5, "four right guesses give five words"),
        ([5, 2, 0, 7], 3, "the third guess is wrong: two guesses and the model's own word"),
        ([0, 2, 7, 7], 1, "a wrong first guess gives one word, the model's own"),
    ):
        with running(name, "logits of shape (5, 8) and 4 guesses", "argmax, then compare."):
            found = torch.as_tensor(function(logits, torch.tensor(guesses))).tolist()
        if found != WORDS[:want].tolist():
            look = "After a wrong guess, the model has read a wrong word: nothing after it counts."
            fail(name, f"{words}.", f"Yours gives {found}.", look)
    passed(name, "right guesses are kept", "the first wrong one is replaced, and ends it")

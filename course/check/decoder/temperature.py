"""Temperature, by what must be true of it."""

from __future__ import annotations

import math
from typing import Any

import torch

from course.check.base import close, fail, passed
from course.check.decoder._generation import filtered
from course.check.modules import undisturbed


@undisturbed
def temperature(function: Any) -> None:
    """Low temperatures sharpen, high ones flatten, and 0 takes the likeliest word."""
    name = "temperature"
    logits = torch.tensor([[0.0, 1.0, 2.0], [3.0, 1.0, -1.0]])

    def at(value: float, given: torch.Tensor = logits) -> torch.Tensor:
        return filtered(name, function, given, value, "temperature")

    if not close(at(1.0), logits.softmax(-1)):
        fail(name, "at temperature 1 it is the softmax of the logits.", "Yours is another.", "One softmax over words.")
    cold, hot = at(0.5), at(2.0)
    for found, factor in ((cold, 2.0), (hot, 0.5)):
        ratio = math.log(float(found[0, 2] / found[0, 1]))
        if abs(ratio - factor) > 1e-3:
            came = f"Yours are {math.exp(ratio):.3g} times as likely."
            expected = f"at temperature {1 / factor:g} a logit that is 1 larger makes a word e^{factor:g} as likely."
            fail(name, expected, came, "Divide the logits by the temperature, then take the softmax.")
    if not close(at(0.0), torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])):
        came = f"Yours gives {[round(value, 3) for value in at(0.0)[0].tolist()]} for the logits 0, 1, 2."
        fail(name, "at temperature 0 all of the probability belongs to the likeliest word.", came, "Treat 0 by itself.")
    ties = at(0.0, torch.tensor([[1.0, 5.0, 5.0], [2.0, 2.0, 2.0]]))
    if not close(ties, torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])):
        fail(name, "of several likeliest words the first gets all.", "Yours chooses otherwise.", "argmax gives one.")
    at(0.5, logits + 300)
    passed(name, "1 is the softmax", "lower is sharper", "0 is the likeliest word")

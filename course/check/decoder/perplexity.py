"""Perplexity."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import fail, passed, running, same_shape
from course.check.modules import undisturbed


@undisturbed
def perplexity(function: Any) -> None:
    """Among how many equally likely words the model hesitates."""
    name = "perplexity"

    def of(probabilities: list[float]) -> float:
        logs = torch.tensor(probabilities).log()
        with running(name, f"{len(probabilities)} log-probabilities", "One number comes out."):
            value = torch.as_tensor(function(logs))
        same_shape(name, "the perplexity", value, (), "one number")
        return float(value)

    logs = -torch.rand(5)
    kept = logs.clone()
    with running(name, "5 log-probabilities", "One number comes out."):
        function(logs)
    if not torch.equal(logs, kept):
        fail(name, "what goes in must come out as it went in.", "Yours was changed in place.", "Make new tensors.")
    for probabilities, want, words in (
        ([1.0, 1.0, 1.0], 1.0, "a model that is sure and right every time has perplexity 1"),
        ([0.25] * 6, 4.0, "a model that gives every word one chance in 4 has perplexity 4"),
        ([0.25] * 400, 4.0, "a text of 400 words of that kind has perplexity 4, too"),
        ([0.5, 0.5, 0.0625], 4.0, "two words with 1/2 and one with 1/16 make perplexity 4"),
    ):
        got = of(probabilities)
        if not abs(got - want) <= 1e-3:
            look = "e to the power of minus the mean log-probability. A product of many probabilities is 0 in float32."
            fail(name, f"{words}.", f"Yours is {got:.4g}.", look)
    passed(name, "1 where all is sure", "4 for one chance in 4", "the length of the text does not matter")

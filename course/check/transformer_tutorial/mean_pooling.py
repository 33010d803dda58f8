"""The average of the real tokens."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.side_effects import check_side_effects
from course.check.transformer_tutorial._calls import undisturbed

B, T, K = 2, 4, 5


@undisturbed
def mean_pooling(function: Any) -> None:
    """The average over a sentence's real tokens, whatever stands at the padded places."""
    name = "mean_pooling"
    mask = torch.arange(T) < torch.tensor([4, 2])[:, None]
    states = torch.randn(B, T, K)
    check_side_effects(name, function, states, mask)
    with running(
        name, f"states (b, t, k) = ({B}, {T}, {K}) and a mask ({B}, {T})", "Print the shape after every step."
    ):
        pooled = function(states, mask)
    same_shape(name, "the result", pooled, (B, K), "(b, k)", "Which axis counts the tokens?")
    finite(name, "the result", pooled)
    disturbed = torch.where(mask[..., None], states, states + 50)
    if not close(function(disturbed, mask), pooled):
        fail(
            name,
            "what stands at padded places must not matter.",
            "In yours it does.",
            "Padded vectors must not be in the sum.",
        )
    value = torch.linspace(-1, 1, K)
    alike = function(value.expand(B, T, K), mask)
    if not close(alike, value.expand(B, K)):
        ratio = float(alike[1, 0] / value[0])
        fail(
            name,
            "the average of equal vectors is that vector.",
            f"For a sentence of 2 words and 2 pads, yours is {ratio:.3g} times it.",
            "By how many must the sum be divided?",
        )
    if not close(function(states[1:, :2], mask[1:, :2])[0], pooled[1]):
        fail(name, "with or without padding, the average is the same.", "Yours differs.", "Count only real tokens.")
    gaps = torch.tensor([[True, False, True, True], [False, True, False, True]])
    apart = [function(states[i : i + 1, real], torch.ones(1, int(real.sum())) > 0)[0] for i, real in enumerate(gaps)]
    if not close(function(states, gaps), torch.stack(apart)):
        fail(
            name,
            "padding may stand in front, or between real tokens.",
            "Yours averages other tokens than the mask calls real.",
            "The mask says which tokens are real, not only how many.",
        )
    one = torch.zeros(1, T, K)
    one[0, 1] = 4
    if not close(function(one, torch.ones(1, T, dtype=torch.bool)), torch.ones(1, K)):
        fail(name, "all real tokens count alike: one 4 among four tokens makes a 1.", "Yours makes something else.")
    passed(name, "padding does not matter", "all real tokens count alike")

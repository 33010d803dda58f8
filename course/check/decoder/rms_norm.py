"""``RMSNorm``, by what must be true of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course.check.base import close, fail, finite, passed, same_shape
from course.check.decoder._modern import made, run
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects

DIM = 6


@undisturbed
def rms_norm(kind: Any) -> None:
    """Each token is divided by the root of its mean square, and nothing is subtracted."""
    name = "rms_norm"
    norm = made(name, kind, DIM)
    if not isinstance(getattr(norm, "weight", None), nn.Parameter):
        fail(name, "self.weight must be a parameter.", "Yours is none.", "nn.Parameter(a tensor of dim numbers)")
    same_shape(name, "weight", norm.weight, (DIM,), "(dim,)")
    if not close(norm.weight, torch.ones(DIM)):
        fail(name, "the weight starts as ones: an untrained norm scales nothing.", "Yours starts otherwise.")
    x = 3 + 2 * torch.randn(2, 4, DIM)
    check_side_effects(name, norm, x, weights=[norm.weight])
    out = run(name, norm, x)
    same_shape(name, "the output", out, (2, 4, DIM), "(batch, tokens, dim)")
    ratio = out / x
    if not close(ratio, ratio[..., :1].expand_as(ratio), 1e-3):
        came = "In yours they are not: something was subtracted, or the mean runs over another axis."
        fail(
            name, "all numbers of a token are divided by one and the same number.", came, "Is there a mean of x itself?"
        )
    if not close(out.square().mean(-1), torch.ones(2, 4), 1e-3):
        came = f"Yours has {float(out[0, 0].square().mean()):.3g} in the first token."
        fail(name, "the mean square of every token is 1 afterwards.", came, "Square, mean over the last axis, root.")
    zeros = run(name, norm, torch.zeros(1, 2, DIM))
    finite(name, "the output for a vector of zeros", zeros, "Where does eps belong?")
    _eps(name, kind)
    norm.weight.fill_(2.0)
    if not close(run(name, norm, x), 2 * out):
        fail(name, "twice the weight gives twice the output.", "Yours gives something else.", "The weight is a factor.")
    passed(name, "divided, not centred", "mean square 1", "eps under the root", "a learned weight")


def _eps(name: str, kind: Any) -> None:
    norm = made(name, kind, DIM, eps=3.0)
    out = run(name, norm, torch.ones(1, 1, DIM))
    if not close(out, torch.full_like(out, 0.5)):
        came = f"Yours makes {float(out.flatten()[0]):.3g} of it."
        fail(name, "with eps = 3, a vector of ones becomes 1 / √(1 + 3) = 0.5.", came, "eps is added below the root.")

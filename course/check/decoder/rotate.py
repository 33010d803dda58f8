"""Turning queries and keys, by what must be true of any rotation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.decoder._modern import turned
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects

SHAPE = (2, 3, 5, 6)


@undisturbed
def rotate(function: Any) -> None:
    """Number i and number i + head_size / 2 are turned as a pair, by the angle of their token."""
    name = "rotate"
    x, angles = torch.randn(SHAPE), torch.rand(5, 3) + 0.3
    check_side_effects(name, lambda x: function(x, *turned(angles)), x)
    out = _run(name, function, x, angles)
    if not close(_run(name, function, x, angles * 0), x):
        fail(name, "an angle of 0 changes nothing.", "Yours changes x.", "There cos is 1 and sin is 0.")
    quarter = _run(name, function, x, torch.full((5, 3), torch.pi / 2))
    a, b = x[..., :3], x[..., 3:]
    if not close(quarter, torch.cat([-b, a], dim=-1), 1e-3):
        came = "Yours does something else."
        if close(quarter, torch.cat([b, -a], dim=-1), 1e-3):
            came = "Yours turns them the other way round."
        look = "Number i is paired with number i + head_size / 2: the halves change places, and one gets a minus."
        fail(name, "an angle of π/2 makes (-b, a) of each pair (a, b).", came, look)
    lengths = [vectors.unflatten(-1, (2, 3)).norm(dim=-2) for vectors in (out, x)]
    if not close(*lengths):
        fail(name, "a rotation keeps the length of each pair.", "In yours it changes.", "Which half gets the minus?")
    if not close(_run(name, function, out, -angles), x, 1e-3):
        fail(name, "turning back by the same angle gives x again.", "In yours it does not.")
    passed(name, "angle 0 changes nothing", "a quarter turn is right", "lengths stay")


def _run(name: str, function: Any, x: Tensor, angles: Tensor) -> Tensor:
    with running(name, f"x of shape {SHAPE}, cos and sin of shape {SHAPE[2:]}", "Print every shape."):
        out: Tensor = function(x, *turned(angles))
    same_shape(name, "the result", out, SHAPE, "(batch, heads, tokens, head_size)")
    return out

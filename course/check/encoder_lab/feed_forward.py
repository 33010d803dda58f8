"""Notebook 1: ``FeedForward``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import fail, passed, running, same_shape
from course.check.encoder_lab._building import make, settled
from course.check.encoder_lab._stand_ins import first
from course.check.modules import part, undisturbed
from course.check.side_effects import check_side_effects

#: The exact GELU of 1, -1 and 3: x times the share of the normal distribution below x.
GELU = {1.0: 0.841345, -1.0: -0.158655, 3.0: 2.99595}


TANH_GELU = {1.0: 0.841192, -1.0: -0.158808, 3.0: 2.996363}


@undisturbed
def feed_forward(kind: Any) -> None:
    """Linear, GELU, linear."""
    name = "feed_forward"
    network = make(name, kind, 3, 7)
    for layer, shape in (("linear_1", (7, 3)), ("linear_2", (3, 7))):
        found = part(name, network, layer)
        if tuple(getattr(found, "weight", torch.zeros(0)).shape) != shape:
            fail(
                name,
                f"in FeedForward(d_model=3, intermediate_size=7), {layer} makes {shape[0]} numbers out of {shape[1]}.",
                f"Yours is {found}.",
                "It goes from narrow to wide and back again.",
            )
    for factor, layer in ((1, network.linear_1), (2, network.linear_2)):
        layer.weight.copy_(factor * torch.eye(7)[: layer.weight.shape[0], : layer.weight.shape[1]])
        if layer.bias is not None:
            layer.bias.zero_()
    x = torch.tensor([[[1.0, -1.0, 3.0], [0.0, 0.0, 0.0]]]).repeat(2, 1, 1)
    with running(name, "the network on (2, 2, 3)"):
        output = first(network(x))
    same_shape(name, "the output", output, (2, 2, 3), "(batch, tokens, d_model)")
    settled(name, output, first(network(x)))
    check_side_effects(name, lambda given: first(network(given)), x)
    _activation(name, output[0, 0], x[0, 0])
    network.linear_1.weight.neg_()
    turned = first(network(x))[0, 0]
    if not torch.allclose(turned, output[0, 0] - 2 * x[0, 0], atol=4e-5, rtol=0):  # GELU(-x) = GELU(x) - x
        fail(
            name,
            "the GELU works on what linear_1 makes.",
            "Where linear_1 turns every sign, yours does not see it.",
            "linear_1, then the GELU, then linear_2.",
        )
    passed(name, "narrow to wide and back", "exact GELU between the layers")


def _activation(name: str, came: Tensor, x: Tensor) -> None:
    gelu, tanh = torch.tensor(list(GELU.values())), torch.tensor(list(TANH_GELU.values()))
    if torch.allclose(came, 2 * gelu, atol=4e-5, rtol=0):
        return
    known = {
        "No activation was applied: two linear layers are one": 2 * x,
        "That is a ReLU": 2 * x.clamp(min=0),
        "That is GELU's tanh approximation; nn.GELU without arguments is exact": 2 * tanh,
        "The input was added: the skip belongs to the layer, not here": x + 2 * gelu,
    }
    words = [words for words, values in known.items() if torch.allclose(came, values, atol=4e-5, rtol=0)]
    fail(
        name,
        "where linear_1 passes all on and linear_2 doubles it, 1, -1 and 3 come out as 1.6827, -0.3173 and 5.9919.",
        f"Yours are {', '.join(f'{value:.5g}' for value in came.tolist())}.",
        "".join(words) + "." if words else "Is it a GELU, once, between the two layers?",
    )

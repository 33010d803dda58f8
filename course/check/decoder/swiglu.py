"""``SwiGLU``, by what must be true of it."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed, same_shape
from course.check.decoder._modern import check_weights, made, run
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects

DIM, HIDDEN = 4, 7


@undisturbed
def swiglu(kind: Any) -> None:
    """The gate, through SiLU, times the other half; then back to dim numbers."""
    name = "swiglu"
    network = made(name, kind, DIM, HIDDEN)
    check_weights(name, network, dict.fromkeys(("gate_proj", "up_proj"), (HIDDEN, DIM)) | {"down_proj": (DIM, HIDDEN)})
    x = torch.randn(2, 3, DIM)
    check_side_effects(name, network, x, weights=list(network.parameters()))
    same_shape(name, "the output", run(name, network, x), (2, 3, DIM), "(batch, tokens, dim)")
    _product(name, kind)
    _activation(name, kind)
    passed(name, "three layers without bias", "gate times up", "SiLU on the gate alone")


def _two(name: str, kind: Any) -> Any:
    """A network of one hidden number: its gate is the first number of x, its up the second."""
    network = made(name, kind, 2, 1)
    network.gate_proj.weight.copy_(torch.tensor([[1.0, 0.0]]))
    network.up_proj.weight.copy_(torch.tensor([[0.0, 1.0]]))
    network.down_proj.weight.copy_(torch.tensor([[1.0], [0.0]]))
    return network


def _product(name: str, kind: Any) -> None:
    network = _two(name, kind)
    one, double, none = run(name, network, torch.tensor([[1.5, 1.0], [1.5, 2.0], [1.5, 0.0]]))[:, 0]
    if not close(none, torch.zeros(())):
        came = f"Yours gives {float(none):.3g}."
        fail(name, "where up_proj gives 0, the output is 0.", came, "Gate and up are multiplied.")
    if not close(double, 2 * one):
        came = f"Yours grows {float(double / one):.3g} times."
        fail(name, "twice the output of up_proj gives twice the result.", came, "Only the gate goes through SiLU.")


def _activation(name: str, kind: Any) -> None:
    gates = torch.tensor([-1.0, 0.0, 1.0])
    came = run(name, _two(name, kind), torch.stack([gates, torch.ones(3)], dim=1))[:, 0]
    want = gates / (1 + torch.exp(-gates))
    if not close(came, want, 1e-3):
        shown = ", ".join(f"{number:.3g}" for number in came.tolist())
        look = "SiLU(x) = x · sigmoid(x): a ReLU with a soft bend. torch has it."
        fail(name, "gates of -1, 0 and 1, times 1, give -0.269, 0 and 0.731.", f"Yours give {shown}.", look)

"""Small models for checks: sizes that differ pairwise, and layers whose numbers are known."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check import stand_ins
from course.check.base import close, fail, running
from course.config import Config

#: Feature sizes: 3 heads of 5 numbers each.
HEADS, HEAD_SIZE = 3, 5


def small_config(**changes: Any) -> Config:
    """3 heads of size 5, so dim 15; no two sizes are equal, so that no axis can stand in for another."""
    sizes: dict[str, Any] = {
        "n_heads": HEADS,
        "n_layers": 4,
        "dim": HEADS * HEAD_SIZE,
        "hidden_dim": 22,
        "max_position_embeddings": 9,
        "vocab_size": 13,
    }
    return Config(**(sizes | changes))


def build(name: str, kind: Any, config: Config) -> nn.Module:
    """``kind(config)`` in eval mode; whatever goes wrong is a failed check."""
    if not callable(kind):
        fail(name, "a class is expected.", f"A {type(kind).__name__} came.", "Pass the class itself, without brackets.")
    class_name = getattr(kind, "__name__", "the class")
    with running(name, f"{class_name}(config)", "Look at __init__: every size comes from the config."):
        module = kind(config)
    if not isinstance(module, nn.Module):
        fail(
            name,
            f"{class_name} must be an nn.Module.",
            f"It is a {type(module).__name__}.",
            "class …(nn.Module), and super().__init__() as the first line of __init__.",
        )
    return module.eval()


def build_model(name: str, kind: Any, config: Config) -> nn.Module:
    """As ``build``, for a model whose ``__init__`` may have a gap: stand-ins take the place of what is missing."""
    with running(name, "making the model", "Look at __init__."):
        return stand_ins.build(kind, config)


def repeatable(name: str, first: Any, second: Any) -> None:
    """Fails where two calls with the same input gave two results."""
    if isinstance(first, Tensor) and isinstance(second, Tensor) and not close(first.nan_to_num(), second.nan_to_num()):
        fail(
            name,
            "the same input must give the same result twice.",
            "Yours gives two different ones.",
            "Is there dropout that goes on in eval mode, or a random number?",
        )


def put_linear(module: nn.Module, attribute: str, weight: Tensor, bias: Tensor | None = None) -> None:
    """Give a linear layer known numbers, or put one with these numbers where none of this size stands.

    A projection that ``__init__`` forgot, or shares with another, is so no hindrance for a check of ``forward``.
    """
    layer = getattr(module, attribute, None)
    shared = sum(child is layer for child in vars(module).get("_modules", {}).values()) > 1
    if not isinstance(layer, nn.Linear) or layer.weight.shape != weight.shape or layer.bias is None or shared:
        layer = nn.Linear(weight.shape[1], weight.shape[0])
        setattr(module, attribute, layer)
    layer.weight.copy_(weight)
    layer.bias.copy_(torch.zeros(weight.shape[0]) if bias is None else bias)

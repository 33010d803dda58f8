"""Notebook 2, part 1: the projections for query, key and value."""

from __future__ import annotations

from typing import Any

from torch import nn

from course.check.base import fail, passed
from course.check.distilbert._small import build, small_config
from course.check.modules import part, undisturbed

NAME = "attention_init"
PROJECTIONS = ("q_lin", "k_lin", "v_lin")


@undisturbed
def attention_init(kind: Any) -> None:
    """Three linear layers of their own, each from dim to dim numbers, with a bias."""
    for config in (small_config(), small_config(n_heads=4, dim=8)):
        block = build(NAME, kind, config)
        layers = [part(NAME, block, name) for name in PROJECTIONS]
        for name, layer in zip(PROJECTIONS, layers, strict=True):
            _linear(name, layer, config.dim, config.attention_head_size, config.hidden_dim)
        if len({id(layer) for layer in layers}) < len(layers):
            fail(
                NAME,
                "query, key and value need a layer each.",
                "Two of yours are one and the same object.",
                "A layer that is shared cannot learn two things: call nn.Linear once for each.",
            )
        parameters = {name for name, _ in block.named_parameters()}
        hidden = [name for name in PROJECTIONS if f"{name}.weight" not in parameters]
        if hidden:
            fail(
                NAME,
                "the layers must be known to the block as its parameters.",
                f"{' and '.join(hidden)} cannot be found among block.named_parameters().",
                "Assign each layer to an attribute of its own, not into a list.",
            )
    passed(NAME, "three layers of their own", "dim to dim", "with bias", "sizes from the config")


def _linear(name: str, layer: Any, dim: int, head_size: int, hidden_dim: int) -> None:
    if not isinstance(layer, nn.Linear):
        fail(NAME, f"{name} must be a linear layer.", f"Yours is a {type(layer).__name__}.", "Look for it in torch.nn.")
    came = (layer.in_features, layer.out_features)
    if came != (dim, dim):
        look = "Do the sizes come from the config, or were they written as numbers?"
        if head_size in came:
            look = "All heads share one layer: it is as wide as the model, and the heads are cut out of it later."
        elif hidden_dim in came:
            look = "hidden_dim is the width of the feed-forward network; queries, keys and values keep the model's dim."
        fail(
            NAME,
            f"with config.dim = {dim}, {name} must take {dim} numbers and give {dim}.",
            f"Yours takes {came[0]} and gives {came[1]}.",
            look,
        )
    if layer.bias is None:
        fail(
            NAME,
            f"{name} must have a bias.",
            "Yours has none.",
            "The pretrained weights bring one for every projection; a linear layer has one unless told otherwise.",
        )

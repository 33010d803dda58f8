"""Notebook 3, part 1: the list of blocks."""

from __future__ import annotations

from typing import Any

from torch import nn

from course.check.base import fail, passed
from course.check.distilbert._small import build, small_config
from course.check.modules import part, undisturbed


@undisturbed
def encoder_list(kind: Any) -> None:
    """As many blocks as the config says, each with weights of its own, and all of them known to the model."""
    name = "encoder_list"
    for layers in (4, 2):
        config = small_config(n_layers=layers)
        model = build(name, kind, config)
        blocks = _blocks(name, model)
        if len(blocks) != layers:
            look = (
                "config.n_layers says how many."
                if len(blocks) in (1, 6)
                else "range(n) counts from 0 to n - 1: that is n steps."
            )
            fail(
                name,
                f"with config.n_layers = {layers}, {layers} blocks are expected.",
                f"Yours has {len(blocks)}.",
                look,
            )
        for number, block in enumerate(blocks):
            if not all(hasattr(block, layer) for layer in ("q_lin", "k_lin", "v_lin", "out_lin", "lin1", "lin2")):
                fail(
                    name,
                    "each entry of the list must be an AttentionBlock.",
                    f"Entry {number} of yours is a {type(block).__name__}.",
                    "AttentionBlock(config) makes one.",
                )
        if len({id(block) for block in blocks}) < layers:
            fail(
                name,
                "each layer needs a block of its own.",
                "Yours holds the same block more than once.",
                "Make a new block for every entry: [block] * n is one block, n times.",
            )
        known = [key for key, _ in model.named_parameters() if key.endswith("q_lin.weight")]
        if len(known) != layers:
            fail(
                name,
                "the model must know the blocks' parameters: else none is loaded, trained or moved.",
                f"It knows those of {len(known)} blocks, not {layers}.",
                "A plain Python list hides its entries from the model; torch.nn has a list that does not.",
            )
    passed(name, "as many blocks as the config says", "each its own", "all known to the model")


def _blocks(name: str, model: nn.Module) -> list[Any]:
    encoder = part(name, model, "attention_layers")
    try:
        return list(encoder)
    except TypeError:
        fail(
            name,
            "attention_layers must be a list of blocks.",
            f"Yours is a {type(encoder).__name__}.",
            "One block for each layer, in a list that torch knows.",
        )

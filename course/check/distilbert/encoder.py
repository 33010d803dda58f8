"""Notebook 3, parts 1 and 2: the list of blocks and the loop over them, each looked at on its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check import stand_ins
from course.check.base import close, fail, passed, running, same_shape
from course.check.distilbert.small import build, build_model, part, small_config, undisturbed

BATCH, TOKENS = 2, 3
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])

# --- the list ---------------------------------------------------------------------------------------------------------


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


# --- the loop ---------------------------------------------------------------------------------------------------------


@undisturbed
def encoder_loop(kind: Any) -> None:
    """Each block takes what the one before it gave; the last one's output goes on; all weights are kept.

    The blocks are replaced by stand-ins: layer i adds i + 1 to every number.
    """
    name = "encoder_loop"
    config = small_config(n_layers=4)
    model = build_model(name, kind, config)
    embedded, dim = torch.randn(BATCH, TOKENS, config.dim), config.dim
    shifts = torch.arange(1.0, config.n_layers + 1)[:, None].expand(-1, dim)
    attention = torch.rand(config.n_layers, BATCH, config.n_heads, TOKENS, TOKENS).softmax(-1)
    with running(name, "a batch of 2 sentences", "What does a block return? Two things: take them apart."):
        record = stand_ins.run_loop(
            model, IDS, embedded, torch.eye(dim).expand(config.n_layers, -1, -1), shifts, attention
        )
    _chain(name, record.layer_inputs, embedded, config.n_layers)
    _goes_on(name, record.pooled, embedded, config.n_layers)
    _attention_kept(name, record, attention)
    passed(
        name,
        "every block once, in order",
        "each takes what the last one gave",
        "the last output goes on",
        "weights kept, layer by layer",
    )


def _chain(name: str, inputs: Tensor, embedded: Tensor, layers: int) -> None:
    if len(inputs) != layers:
        fail(
            name,
            f"each of the {layers} blocks is called once.",
            f"In yours there are {len(inputs)} calls.",
            "The loop runs over the whole list.",
        )
    if inputs[0].shape != embedded.shape or not close(inputs[0], embedded):
        fail(
            name,
            "the first block takes the embeddings.",
            "Yours takes something else.",
            "The loop starts from encoder_input.",
        )
    added = [(fed - embedded).mean().item() for fed in inputs]
    if all(abs(value) < 1e-3 for value in added):
        fail(
            name,
            "each block takes what the block before it gave.",
            "In yours every block takes the embeddings.",
            "What a block gives must take the place of what the next one is fed.",
        )
    right = [layer * (layer + 1) / 2 for layer in range(layers)]
    if any(abs(value - want) > 1e-3 for value, want in zip(added, right, strict=True)):
        came = (
            "In yours the blocks come in another order."
            if abs(added[1] - 1) > 1e-3
            else "In yours something else is fed."
        )
        fail(
            name,
            "each block takes what the block before it gave, first to last.",
            came,
            "Print i and encoder_input.shape inside the loop.",
        )


def _goes_on(name: str, pooled: Tensor | None, embedded: Tensor, layers: int) -> None:
    if pooled is None:
        fail(
            name,
            "the last block's output goes on to the classifier.",
            "Nothing arrived there.",
            "It must be called output.",
        )
    steps = layers * (layers + 1) / 2
    same_shape(name, "what is pooled", pooled, tuple(embedded[:, 0].shape), "(batch, dim)")
    if close(pooled, embedded[:, 0] + steps, 1e-3):
        return
    came = "Something else arrives."
    if close(pooled, embedded[:, 0]):
        came = "The embeddings arrive."
    elif close(pooled, embedded[:, 0] + steps - layers, 1e-3):
        came = "The last block's input arrives: one step is missing."
    fail(
        name,
        "the last block's output, called output, goes on to the classifier.",
        came,
        "What is output when the loop ends?",
    )


def _attention_kept(name: str, record: stand_ins.LoopRecord, attention: Tensor) -> None:
    expected = "self.attention_probs[i] holds the weights of block i, (batch, heads, tokens, tokens)."
    if record.attention is None:
        fail(
            name,
            expected,
            "Yours has not one tensor for each layer.",
            "A block returns two things: the weights are the second.",
        )
    if record.attention.shape != attention.shape:
        fail(
            name,
            expected,
            f"Yours have {tuple(record.attention.shape[1:])}, not {tuple(attention.shape[1:])}.",
            "Keep what the block returns as it is.",
        )
    if not close(record.attention, attention):
        came, look = "Yours are others.", "Print the shapes of the two things that a block returns."
        if close(record.attention, attention.flip(0)):
            came, look = "Yours are counted from the end.", "Layer 0 is the first one."
        elif close(record.attention, attention[-1:].expand_as(attention)):
            came, look = (
                "Yours hold the last block's weights for every layer.",
                "Keep them inside the loop, under the loop's own number.",
            )
        fail(name, expected, came, look)
    if record.grown or record.attention_again is None:
        fail(
            name,
            "a second sentence takes the place of the first in attention_probs.",
            "Yours grows with every call.",
            "Assign to attention_probs[i]; nothing needs to be appended.",
        )

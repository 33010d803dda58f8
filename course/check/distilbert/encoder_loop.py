"""Notebook 3, part 2: the loop over the blocks."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor

from course.check import stand_ins
from course.check.base import close, fail, passed, running, same_shape
from course.check.distilbert._small import build_model, small_config
from course.check.modules import undisturbed

BATCH, TOKENS = 2, 3
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])


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
        steps = [later - earlier for earlier, later in itertools.pairwise(added)]
        known = all(abs(step - round(step)) < 1e-3 and 1 <= round(step) <= layers for step in steps)
        other_order = known and len({round(step) for step in steps}) == len(steps)
        came = "In yours the blocks come in another order." if other_order else "In yours something else is fed."
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
    if not close(record.attention_again, attention.flip(1)):
        fail(
            name,
            "a second call's weights take the place of the first's in attention_probs.",
            "Yours still holds the first ones.",
            "Assign to attention_probs[i], whatever stands there.",
        )

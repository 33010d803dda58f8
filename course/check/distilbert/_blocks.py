"""Blocks and tokens whose attention is known beforehand, and what a block makes of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import fail, finite, running, same_shape
from course.check.distilbert._small import HEAD_SIZE, HEADS, build, put_linear, repeatable, small_config
from course.check.half_written import run_block
from course.check.modules import part

AXES = ("batch", "heads", "queries", "keys")
TOKENS = 4
GIVEN_LAYERS = ("out_lin", "lin1", "lin2", "sa_layer_norm", "output_layer_norm")


def one_hot_tokens(size: float = 1.0) -> Tensor:
    """(2, 4, 15): batch 0 is all zeros; in batch 1 token t has a single number, at place t, in each head."""
    hidden_states = torch.zeros(2, TOKENS, HEADS, HEAD_SIZE)
    hidden_states[1] = size * torch.eye(HEAD_SIZE)[:TOKENS, None]
    return hidden_states.flatten(2)


def searching_block(name: str, kind: Any, strength: float = 5.0) -> Any:
    """Each token's query is the next token's key, in head 1 and twice as strongly in head 2; head 0 is blind."""
    config = small_config()
    block: Any = build(name, kind, config)
    for layer in GIVEN_LAYERS:
        part(name, block, layer)
    place = torch.eye(HEAD_SIZE)
    put_linear(block, "q_lin", torch.block_diag(0 * place, strength * place, 2 * strength * place))
    put_linear(block, "k_lin", torch.block_diag(0 * place, place.roll(-1, 0), place.roll(-1, 0)))
    put_linear(block, "v_lin", torch.eye(config.dim))
    return block


def weights_of(name: str, block: nn.Module, hidden_states: Tensor) -> Tensor:
    batch, tokens = hidden_states.shape[:2]
    before = hidden_states.clone()
    look = "Which axis of k must meet the last axis of q? Write both shapes down."
    with running(name, f"a batch of {batch} sentences of {tokens} tokens", look):
        _, weights = run_block(block, hidden_states)
        _, again = run_block(block, hidden_states)
    if not torch.equal(hidden_states, before):
        fail(
            name,
            "hidden_states must come out as they went in.",
            "Yours were changed.",
            "Make new tensors; change none in place.",
        )
    repeatable(name, weights, again)
    return _checked_weights(name, weights, batch, tokens, look)


def output_of(name: str, block: nn.Module, hidden_states: Tensor) -> tuple[Tensor, Tensor]:
    look = "context has one vector of a head's size for every query: (batch, heads, queries, size)."
    with running(name, "a batch of 2 sentences", look):
        output, weights = block(hidden_states)
        again, _ = block(hidden_states)
    same_shape(name, "the block's output", output, tuple(hidden_states.shape), "(batch, tokens, dim)", look)
    finite(name, "the block's output", output)
    repeatable(name, output, again)
    return output.float(), _checked_weights(name, weights, hidden_states.shape[0], hidden_states.shape[1], look)


def _checked_weights(name: str, weights: Any, batch: int, tokens: int, look: str) -> Tensor:
    if getattr(weights, "ndim", 0) == len(AXES) and weights.shape[0] == 1:
        look = "Is the batch size taken from hidden_states, or was it written as the number 1?"
    same_shape(
        name, "the attention weights", weights, (batch, HEADS, tokens, tokens), "(batch, heads, queries, keys)", look
    )
    return torch.as_tensor(weights).float()

"""Notebook 2, part 4: the context, and what the block makes of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, passed
from course.check.distilbert._blocks import TOKENS, one_hot_tokens, output_of, searching_block
from course.check.distilbert._given_lines import given_lines
from course.check.distilbert._small import HEAD_SIZE, HEADS, build, put_linear, small_config
from course.check.layers_made import check_layers, fed_to
from course.check.modules import plain_norm, undisturbed


@undisturbed
def attention_context(kind: Any) -> None:
    """Each token collects the values of the tokens it attends to, and the block goes on with that."""
    name = "attention_context"
    hidden_states = torch.randn(2, TOKENS, HEADS * HEAD_SIZE)
    hidden_states[:, :, ::HEAD_SIZE] *= 3
    _layers(name, kind, hidden_states)
    block = searching_block(name, kind)
    output, weights = output_of(name, block, hidden_states)
    if not close(weights.sum(-1), torch.ones(weights.shape[:-1]), 1e-4):
        fail(
            name,
            "this check needs weights whose rows sum to 1.",
            "Yours do not yet.",
            "Make attention_weights pass first.",
        )
    _skips_and_norms(name, kind, hidden_states)
    _next_token(name, kind)
    _constant_values(name, kind, hidden_states)
    _order_and_batch(name, block, hidden_states, output)
    given_lines(name, kind)
    passed(
        name, "values are mixed by the weights", "heads merged", "skips and LayerNorms in place", "sentences kept apart"
    )


def _layers(name: str, kind: Any, hidden_states: Tensor) -> None:
    """The layers of the given lines are there, and the block that ``__init__`` makes runs."""
    config = small_config()
    block = build(name, kind, config)
    dim, wide = config.dim, config.hidden_dim
    check_layers(
        name,
        block,
        {
            "out_lin": (dim, dim),
            "sa_layer_norm": (dim,),
            "lin1": (wide, dim),
            "lin2": (dim, wide),
            "output_layer_norm": (dim,),
        },
    )
    for projection in ("q_lin", "k_lin", "v_lin"):  # these have a check of their own
        put_linear(block, projection, torch.eye(dim))
    output_of(name, block, hidden_states)


def _normalise(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, x.shape[-1:], eps=1e-12)


def _without_feed_forward(block: Any) -> None:
    """The feed-forward network adds nothing, both LayerNorms only normalise: the output is LN(context + input)."""
    for layer in ("lin1", "lin2"):
        getattr(block, layer).weight.zero_()
        getattr(block, layer).bias.zero_()
    put_linear(block, "out_lin", torch.eye(HEADS * HEAD_SIZE))
    plain_norm(block.sa_layer_norm)
    plain_norm(block.output_layer_norm)


def _skips_and_norms(name: str, kind: Any, hidden_states: Tensor) -> None:
    block = searching_block(name, kind)
    _without_feed_forward(block)
    put_linear(block, "out_lin", torch.zeros(HEADS * HEAD_SIZE, HEADS * HEAD_SIZE))
    output, _ = output_of(name, block, hidden_states)
    if float(output.abs().max()) < 1e-3:
        fail(
            name,
            "where both sublayers add nothing, the block's own input must still come through.",
            "Nothing comes out of yours.",
            "The given lines add hidden_states and sa_output: were they changed?",
        )
    if not close(output, _normalise(hidden_states), 1e-3):
        fail(
            name,
            "where both sublayers add nothing, the block must give its input, normalised.",
            "Yours gives something else.",
            "The given lines behind context (skip, LayerNorm): were they changed?",
        )


def _constant_values(name: str, kind: Any, hidden_states: Tensor) -> None:
    """All values are alike: whatever the weights, the context is that value."""
    block = searching_block(name, kind)
    _without_feed_forward(block)
    value = torch.linspace(-2, 3, HEADS * HEAD_SIZE)
    put_linear(block, "v_lin", torch.zeros(len(value), len(value)), value)
    output, _ = output_of(name, block, hidden_states)
    if float((output - _normalise(hidden_states + value)).abs().max()) > 2e-4:
        fail(
            name,
            "where all tokens have the same value, every token must collect just that value.",
            "Yours is something else.",
            "The context is the weights times the values, head by head; then the heads are merged.",
        )


def _next_token(name: str, kind: Any) -> None:
    """Strong scores: in heads 1 and 2 each token takes the value of the token behind it, and nothing else."""
    block = searching_block(name, kind, strength=1000.0)
    _without_feed_forward(block)
    tokens = one_hot_tokens()
    # The value of token j is a 2 at place j + 1, where its input has nothing: the two can be told apart.
    put_linear(block, "v_lin", torch.block_diag(*[2 * torch.eye(HEAD_SIZE).roll(1, 0)] * HEADS))
    contexts: list[Tensor] = []
    hook = fed_to(block.out_lin, contexts)
    output, weights = output_of(name, block, tokens)
    hook.remove()
    best, key = weights[1, 1:, :-1].max(-1)  # (2, tokens - 1)
    if not torch.equal(key, torch.arange(1, TOKENS).expand(2, -1)) or float(best.min()) < 0.9:
        fail(
            name,
            "this check needs weights that find the best key.",
            "Yours do not yet.",
            "Make attention_scores and attention_weights pass first.",
        )
    heads = output[1].unflatten(-1, (HEADS, HEAD_SIZE))[:-1, 1:]  # (tokens - 1, 2, size)
    found = heads.argmax(-1) - 1  # whose value
    if torch.equal(found, torch.arange(1, TOKENS)[:, None].expand(-1, 2)):
        return
    if close(output, _normalise(tokens), 1e-3):
        fail(
            name,
            "what the tokens collected must reach the block's output.",
            "In yours it gets lost.",
            "The second skip starts at sa_output, not at hidden_states.",
        )
    came, look = _collected(found, contexts)
    fail(name, "token i attends to token i + 1 here, and must collect that token's value.", came, look)


def _collected(found: Tensor, contexts: list[Tensor]) -> tuple[str, str]:
    """(what came, where to look) for a context that holds other values than those of the next token."""
    last = contexts[-1] if contexts else torch.zeros(0)
    if last.ndim == 3 and last.shape[-1] == HEADS * HEAD_SIZE:
        heads = last.unflatten(-1, (HEADS, HEAD_SIZE))  # (batch, tokens, heads, size)
        sums = heads.sum(-1)
        if close(sums, torch.ones_like(sums), 1e-3):
            return (
                "In yours every context sums to 1.",
                "Was the softmax taken behind the values instead of before them?",
            )
        place = torch.arange(1, TOKENS)  # of the number in the value of token i - 1, which is a 2
        if float(heads[1, place, 1:, place].min()) > 1.9:
            return (
                "In yours it is the value of token i - 1.",
                "Row i of the weights belongs to query i: were the weights transposed?",
            )
    if torch.equal(found, torch.arange(TOKENS - 1)[:, None].expand(-1, 2)):
        return "In yours it is token i's own value.", "Do the weights meet the values, v?"
    return "In yours other numbers are collected.", "Are the heads moved back behind the tokens before they are merged?"


def _order_and_batch(name: str, block: nn.Module, hidden_states: Tensor, output: Tensor) -> None:
    order = torch.tensor([2, 0, 3, 1])
    shuffled, _ = output_of(name, block, hidden_states[:, order])
    if not close(shuffled, output[:, order], 1e-3):
        fail(
            name,
            "tokens in another order must give the same vectors in that order.",
            "Yours change.",
            "Numbers of different tokens were mixed: look at the lines that split and merge the heads.",
        )
    changed = hidden_states.clone()
    changed[0] += 1
    if not close(output_of(name, block, changed)[0][1], output[1], 1e-3):
        fail(
            name,
            "a sentence must not depend on its neighbours in the batch.",
            "Yours does.",
            "The first axis is the batch: does every line leave it alone?",
        )

"""Notebook 2, part 2: scores, weights and context, each looked at on its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import axis_that_sums_to_one, close, fail, finite, passed, running, same_shape
from course.check.distilbert.projections import attention_init
from course.check.distilbert.small import (
    HEAD_SIZE,
    HEADS,
    build,
    part,
    plain_norm,
    put_linear,
    small_config,
    undisturbed,
)
from course.check.half_written import run_block

AXES = ("batch", "heads", "queries", "keys")
TOKENS = 4
GIVEN_LAYERS = ("out_lin", "lin1", "lin2")


def attention_block(kind: Any) -> None:
    """All four checks of the block."""
    for check in (attention_init, attention_scores, attention_weights, attention_context):
        check(kind)


@undisturbed
def attention_scores(kind: Any) -> None:
    """Each query's score for a key is their dot product, divided by the square root of a head's size once."""
    name = "attention_scores"
    weights = _weights(name, _searching_block(name, kind), _one_hot_tokens())
    seen = _without_blind(_logs(weights))
    next_key = torch.stack([head * torch.eye(TOKENS).roll(1, 1).triu() for head in (1, 2)]) * 5**0.5
    factor = _factor(seen, next_key)
    if factor is None:
        factor = _factor(_without_blind(_logs(_undo_softmax(weights))), next_key)
    if factor is None:
        _explain_scores(name, seen, next_key)
    elif abs(factor - 1) > 1e-2:
        fail(
            name,
            f"a dot product of 5 in a head of size {HEAD_SIZE} makes a score of √5 = 2.24.",
            f"Yours is {factor * 5**0.5:.3g}: {_factor_in_words(factor)}",
            "The given line above has divided q already, by √(size of a head).",
        )
    passed(name, "every query meets every key", "rows are queries, columns are keys", "scaled once")


@undisturbed
def attention_weights(kind: Any) -> None:
    """Each query spreads a weight of 1 over the keys."""
    name = "attention_weights"
    block = _searching_block(name, kind)
    hidden_states = _one_hot_tokens() + 0.1 * torch.randn(2, TOKENS, HEADS * HEAD_SIZE)
    weights = _weights(name, block, hidden_states)
    axis = axis_that_sums_to_one(weights, AXES)
    rows_are_right = close(weights.sum(-1), torch.ones(weights.shape[:-1]), 1e-4)
    if not rows_are_right:
        row = float(weights[1, 1, 0].sum())
        came = f"Yours sum to 1 over {axis}." if axis else f"The first row of yours sums to {row:.3g}."
        look = (
            "Is the softmax told which axis to use?" if axis else "Scores become weights by a softmax: was it applied?"
        )
        fail(name, "each query's weights must sum to 1 over the keys (last axis).", came, look)
    if float(weights.min()) < 0:
        fail(
            name,
            "no weight is negative.",
            f"Your smallest is {float(weights.min()):.3g}.",
            "A softmax never gives such a number.",
        )
    huge = _weights(name, block, 300 * hidden_states)
    finite(
        name,
        "weights of very large scores",
        huge,
        "torch's own softmax takes away the largest score first; exp alone overflows.",
    )
    best = float(huge[1, 1:].amax(-1).min())
    if best < 0.99:
        fail(
            name,
            "a key that fits far better than all the others must get nearly all of the weight.",
            f"In yours it gets {best:.2f}.",
            "Do the weights come from the scores, by one softmax and not by two?",
        )
    passed(name, "each row sums to 1 over the keys", "none is negative", "large scores do no harm")


@undisturbed
def attention_context(kind: Any) -> None:
    """Each token collects the values of the tokens it attends to, and the block goes on with that."""
    name = "attention_context"
    hidden_states = 1.0 * torch.randn(2, TOKENS, HEADS * HEAD_SIZE)
    hidden_states[:, :, ::HEAD_SIZE] *= 3
    block = _searching_block(name, kind)
    output, weights = _output(name, block, hidden_states)
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
    passed(
        name, "values are mixed by the weights", "heads merged", "skips and LayerNorms in place", "sentences kept apart"
    )


# --- blocks whose answer is known -------------------------------------------------------------------------------------


def _one_hot_tokens(size: float = 1.0) -> Tensor:
    """(2, 4, 15): batch 0 is all zeros; in batch 1 token t has a single number, at place t, in each head."""
    hidden_states = torch.zeros(2, TOKENS, HEADS, HEAD_SIZE)
    hidden_states[1] = size * torch.eye(HEAD_SIZE)[:TOKENS, None]
    return hidden_states.flatten(2)


def _searching_block(name: str, kind: Any, strength: float = 5.0) -> Any:
    """Each token's query is the next token's key, in head 1 and twice as strongly in head 2; head 0 is blind."""
    config = small_config()
    block: Any = build(name, kind, config)
    for layer in (*GIVEN_LAYERS, "sa_layer_norm", "output_layer_norm"):
        part(name, block, layer)
    place = torch.eye(HEAD_SIZE)
    put_linear(block, "q_lin", torch.block_diag(0 * place, strength * place, 2 * strength * place))
    put_linear(block, "k_lin", torch.block_diag(0 * place, place.roll(-1, 0), place.roll(-1, 0)))
    put_linear(block, "v_lin", torch.eye(config.dim))
    return block


def _weights(name: str, block: nn.Module, hidden_states: Tensor) -> Tensor:
    batch, tokens = hidden_states.shape[:2]
    before = hidden_states.clone()
    look = "Which axis of k must meet the last axis of q? Write both shapes down."
    with running(name, f"a batch of {batch} sentences of {tokens} tokens", look):
        _, weights = run_block(block, hidden_states)
    if not torch.equal(hidden_states, before):
        fail(
            name,
            "hidden_states must come out as they went in.",
            "Yours were changed.",
            "Make new tensors; change none in place.",
        )
    return _checked_weights(name, weights, batch, tokens, look)


def _checked_weights(name: str, weights: Any, batch: int, tokens: int, look: str) -> Tensor:
    if getattr(weights, "ndim", 0) == len(AXES) and weights.shape[0] == 1:
        look = "Is the batch size taken from hidden_states, or was it written as the number 1?"
    same_shape(
        name, "the attention weights", weights, (batch, HEADS, tokens, tokens), "(batch, heads, queries, keys)", look
    )
    return torch.as_tensor(weights).float()


def _output(name: str, block: nn.Module, hidden_states: Tensor) -> tuple[Tensor, Tensor]:
    look = "context has one vector of a head's size for every query: (batch, heads, queries, size)."
    with running(name, "a batch of 2 sentences", look):
        output, weights = block(hidden_states)
    same_shape(name, "the block's output", output, tuple(hidden_states.shape), "(batch, tokens, dim)", look)
    finite(name, "the block's output", output)
    return output.float(), _checked_weights(name, weights, hidden_states.shape[0], hidden_states.shape[1], look)


# --- scores -----------------------------------------------------------------------------------------------------------


def _logs(weights: Tensor) -> Tensor:
    """What stands in the exponent; the numbers themselves where no softmax was applied yet."""
    return weights.log() if axis_that_sums_to_one(weights, AXES) else weights


def _undo_softmax(weights: Tensor) -> Tensor:
    """What went into a softmax, if that was itself a row of weights: a second softmax costs no scores."""
    logs = weights.log()
    return logs + (1 - logs.sum(-1, keepdim=True)) / TOKENS


def _without_blind(logs: Tensor) -> Tensor:
    """(2, heads, T, T) -> (heads - 1, T, T), less what batch 0 and head 0 have, whose scores are zero.

    Centred as well (see _factor), it no longer holds what a softmax over whatever axis divided by: the scores
    are seen even where the softmax is wrong.
    """
    return logs[1, 1:] - logs[1, :1] - (logs[0, 1:] - logs[0, :1])


def _centred(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True) - x.mean(-2, keepdim=True) + x.mean((-1, -2), keepdim=True)


def _factor(seen: Tensor, pattern: Tensor) -> float | None:
    """The number that the pattern must be multiplied with to give what is seen; None where there is none."""
    x, y = _centred(pattern), _centred(seen)
    factor = float((x * y).sum() / (x * x).sum())
    return factor if bool(torch.isfinite(seen).all()) and abs(factor) > 1e-3 and close(y, factor * x, 1e-2) else None


def _factor_in_words(factor: float) -> str:
    root, width = HEAD_SIZE**0.5, (HEADS * HEAD_SIZE) ** 0.5
    known = {
        root: "nothing was divided by √(size of a head).",
        1 / root: "the division by √(size of a head) happened twice.",
        root / width: "the division was by √dim, the width of all heads together.",
        1 / width: "there is a further division, by √dim.",
        1 / HEAD_SIZE: "there is a further division, by the size of a head.",
        -1.0: "the sign is wrong.",
    }
    return next(
        (words for value, words in known.items() if abs(factor - value) < 1e-2),
        f"{factor:.3g} times what it should be.",
    )


def _explain_scores(name: str, seen: Tensor, next_key: Tensor) -> None:
    expected = "the score of query i for key j is the dot product of the two."
    if _factor(seen, next_key.transpose(-1, -2)) is not None:
        fail(
            name,
            "row i must hold what token i's query finds; here it finds the key of token i + 1.",
            "In yours it finds token i - 1: query and key have changed places.",
            "Rows are queries, columns are keys.",
        )
    if not bool(torch.isfinite(seen).all()):
        fail(
            name,
            expected,
            "Some of your weights are zero, negative or not finite, so the scores cannot be seen.",
            "Nothing is masked or clipped here.",
        )
    if float(_centred(seen).abs().max()) < 1e-3:
        fail(
            name,
            expected,
            "In yours all scores are alike, whatever the tokens are.",
            "Does every query meet every key?",
        )
    fail(
        name,
        expected,
        "In yours the matching key does not stand out as it should.",
        "Which axis of k must meet the last axis of q? And is each head on its own, unmixed?",
    )


# --- context ----------------------------------------------------------------------------------------------------------


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
    block = _searching_block(name, kind)
    _without_feed_forward(block)
    put_linear(block, "out_lin", torch.zeros(HEADS * HEAD_SIZE, HEADS * HEAD_SIZE))
    output, _ = _output(name, block, hidden_states)
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
    block = _searching_block(name, kind)
    _without_feed_forward(block)
    value = torch.linspace(-2, 3, HEADS * HEAD_SIZE)
    put_linear(block, "v_lin", torch.zeros(len(value), len(value)), value)
    output, _ = _output(name, block, hidden_states)
    if not close(output, _normalise(hidden_states + value), 1e-3):
        fail(
            name,
            "where all tokens have the same value, every token must collect just that value.",
            "Yours is something else.",
            "The context is the weights times the values, head by head; then the heads are merged.",
        )


def _next_token(name: str, kind: Any) -> None:
    """Strong scores: in heads 1 and 2 each token takes the value of the token behind it, and nothing else."""
    block = _searching_block(name, kind, strength=1000.0)
    _without_feed_forward(block)
    tokens = _one_hot_tokens()
    # The value of token j is a 2 at place j + 1, where its input has nothing: the two can be told apart.
    put_linear(block, "v_lin", torch.block_diag(*[2 * torch.eye(HEAD_SIZE).roll(1, 0)] * HEADS))
    output, weights = _output(name, block, tokens)
    if not close(weights[1, 1:, :-1].argmax(-1).float(), torch.arange(1, TOKENS).expand(2, -1).float()):
        fail(
            name,
            "this check needs weights that find the best key.",
            "Yours do not yet.",
            "Make attention_scores pass first.",
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
    came, look = (
        "In yours other numbers are collected.",
        "Are the heads moved back behind the tokens before they are merged?",
    )
    if torch.equal(found[1:], torch.arange(TOKENS - 2)[:, None].expand(-1, 2)):
        came, look = (
            "In yours it is the value of token i - 1.",
            "Row i of the weights belongs to query i: were the weights transposed?",
        )
    elif torch.equal(found, torch.arange(TOKENS - 1)[:, None].expand(-1, 2)):
        came, look = "In yours it is token i's own value.", "Do the weights meet the values, v?"
    fail(name, "token i attends to token i + 1 here, and must collect that token's value.", came, look)


def _order_and_batch(name: str, block: nn.Module, hidden_states: Tensor, output: Tensor) -> None:
    order = torch.tensor([2, 0, 3, 1])
    shuffled, _ = _output(name, block, hidden_states[:, order])
    if not close(shuffled, output[:, order], 1e-3):
        fail(
            name,
            "tokens in another order must give the same vectors in that order.",
            "Yours change.",
            "Numbers of different tokens were mixed: look at the lines that split and merge the heads.",
        )
    changed = hidden_states.clone()
    changed[0] += 1
    if not close(_output(name, block, changed)[0][1], output[1], 1e-3):
        fail(
            name,
            "a sentence must not depend on its neighbours in the batch.",
            "Yours does.",
            "The first axis is the batch: does every line leave it alone?",
        )

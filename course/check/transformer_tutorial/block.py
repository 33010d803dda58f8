"""Notebook 2: add and norm, the cost of attention, positions, pooling."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.transformer_tutorial.small import Fixed, make, undisturbed

B, T, K = 2, 4, 5


def transformer_block(kind: Any) -> None:
    """Both checks, and that a mask reaches the attention."""
    block_attention(kind)
    block_feed_forward(kind)
    _mask_arrives(kind)


@dataclass
class Prepared:
    """A block whose sublayers are known, and what its parts are given in one pass.

    ``x`` plus what the attention makes of it is three times ``first`` plus 2, where each token of ``first`` has mean
    0 and variance 1; norm_1 doubles. What goes into the network plus what comes out is three times ``second`` plus
    2; norm_2 adds 1. So the network must be given ``2 * first``, and the block must give ``second + 1``.
    """

    block: Any
    x: Tensor
    first: Tensor
    second: Tensor
    given: dict[str, list[Tensor]]


def _prepared(name: str, kind: Any) -> Prepared:
    block = make(name, kind, K, 2).eval()
    first, second = (_standard(torch.randn(B, T, K)) for _ in range(2))
    x = torch.randn(B, T, K)
    given: dict[str, list[Tensor]] = {"attention": [], "mlp": [], "norm_1": [], "norm_2": []}
    for part in given:
        if not isinstance(getattr(block, part, None), nn.Module):
            fail(name, f"the block must have a part called {part}.", "Yours has none.", "Was a given line lost?")
    attended, network = Fixed(lambda x, *_, **__: 3 * first + 2 - x), Fixed(lambda y: 3 * second + 2 - y)
    block.attention, block.mlp = attended, nn.Sequential(network, nn.Identity(), nn.Identity())
    block.norm_1.weight.fill_(2.0)
    block.norm_2.bias.fill_(1.0)
    for part, module in (("attention", attended), ("mlp", network), ("norm_1", block.norm_1), ("norm_2", block.norm_2)):
        module.register_forward_pre_hook(lambda _, inputs, part=part: given[part].append(inputs[0].clone()))
    return Prepared(block, x, first, second, given)


def _standard(x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / centred.square().mean(-1, keepdim=True).sqrt()


def _run(name: str, block: Any, x: Tensor) -> Tensor:
    look = "Four steps: attend, add and norm, feed, add and norm."
    with running(name, f"a batch of {B} sentences of {T} tokens", look):
        out = block(x.clone())
    same_shape(name, "the output", out, (B, T, K), "(b, t, k)", "Does forward return it?")
    result: Tensor = out
    return result


@undisturbed
def block_attention(kind: Any) -> None:
    """norm_1 takes the sum of what went into the attention and what came out."""
    name = "block_attention"
    made = _prepared(name, kind)
    _run(name, made.block, made.x)
    given = made.given
    if not given["attention"] or not close(given["attention"][0], made.x):
        came = "Yours gives it something else." if given["attention"] else "Yours never calls it."
        fail(name, "the attention takes x as it came in.", came, "Post-norm: nothing comes before it.")
    if not given["mlp"]:
        fail(name, "the feed-forward network takes what norm_1 gives.", "Yours never calls it.")
    if not close(given["mlp"][0], 2 * made.first, 1e-3):
        _explain_sum(name, given["norm_1"], made.x, 3 * made.first + 2 - made.x, "attention")
        fail(
            name,
            "the feed-forward network takes what norm_1 makes of the sum.",
            "Yours takes something else.",
            "Keep norm_1's result and go on with it.",
        )
    passed(name, "attended and x are added", "norm_1 takes the sum")


@undisturbed
def block_feed_forward(kind: Any) -> None:
    """norm_2 takes the sum of what went into the network and what came out."""
    name = "block_feed_forward"
    made = _prepared(name, kind)
    out = _run(name, made.block, made.x)
    if not made.given["mlp"]:
        fail(name, "the feed-forward network must be used.", "Yours never calls it.", "Feed, add, then norm_2.")
    if not close(out, made.second + 1, 1e-3):
        entered = made.given["mlp"][0]
        _explain_sum(name, made.given["norm_2"], entered, 3 * made.second + 2 - entered, "feed-forward network")
        fail(
            name,
            "the block gives what norm_2 makes of the second sum.",
            "Yours gives something else.",
            "What goes around the network is what went into it.",
        )
    passed(name, "the skip goes around the network", "norm_2 takes the sum")


def _explain_sum(name: str, given: list[Tensor], entered: Tensor, left: Tensor, sublayer: str) -> None:
    """Fails with a word on what the norm was given, where that can be told."""
    expected = f"the norm is given a sum: what went into the {sublayer} plus what came out."
    if not given:
        return
    words = {"Yours is given what came out alone.": left, "Yours is given what went in alone.": entered}
    for came, wrong in words.items():
        if close(given[0], wrong, 1e-3):
            fail(name, expected, came, "Add first, then normalise.")
    if not close(given[0], entered + left, 1e-3):
        fail(name, expected, "Yours is given something else.", "Where does the skip start?")


@undisturbed
def _mask_arrives(kind: Any) -> None:
    name = "transformer_block"
    made = _prepared(name, kind)
    mask = torch.ones(B, T, dtype=torch.bool)
    with running(name, "a batch with a mask", "forward takes x and the mask."):
        made.block(made.x, mask)
    if not any(argument is mask for argument in made.block.attention.seen[0]):
        fail(name, "the block hands the mask on to the attention.", "Yours does not.", "The given line does it.")
    real = make(name, kind, K + 1, 2).eval()
    if not isinstance(real.mlp, nn.Module) or not bool(torch.isfinite(real(torch.randn(B, T, K + 1))).all()):
        fail(name, "the block must give finite numbers.", "Yours does not.")
    passed(name, "the mask reaches the attention")


def attention_cost(function: Any) -> None:
    """Four positive numbers, each of which grows with the sizes it can depend on, and with no other."""
    name = "attention_cost"
    parts = ("encoder", "decoder", "cross", "next_word")

    def counts(n: int, m: int, p: int) -> tuple[Any, ...]:
        with running(name, f"n = {n}, m = {m}, p = {p}", "Return four numbers."):
            four = tuple(function(n, m, p))
        if len(four) != len(parts) or not all(isinstance(count, Real) and float(count) > 0 for count in four):
            fail(name, "the function returns four positive numbers.", f"Yours returns {four!r:.60}.")
        return four

    base, more_input, more_output = counts(300, 200, 64), counts(600, 200, 64), counts(300, 400, 64)
    if more_output[0] != base[0]:
        fail(name, "the encoder does not know how many words will come out.", "Yours costs more when m grows.")
    if more_input[1] != base[1]:
        fail(name, "the decoder's own attention meets output words only.", "Yours costs more when n grows.")
    wider = counts(300, 200, 128)
    for part, narrow, wide in zip(parts, base, wider, strict=True):
        if abs(wide / narrow - 2) > 1e-6:
            fail(
                name,
                f"{part}: with vectors twice as long, each dot product takes twice as many multiplications.",
                f"Yours takes {float(wide / narrow):.3g} times as many.",
                "Count dot products and weighted sums, and nothing else.",
            )
    for part, first, longer in (("encoder", base[0], more_input[0]), ("decoder", base[1], more_output[1])):
        if longer <= first:
            fail(name, f"{part}: a longer sequence costs more.", "Yours does not.", "Who meets whom?")
    passed(
        name,
        "four positive numbers",
        "each part depends on its own words",
        "how fast they grow is judged after you hand in",
    )


@undisturbed
def mean_pooling(function: Any) -> None:
    """The average over a sentence's real tokens, whatever stands at the padded places."""
    name = "mean_pooling"
    mask = torch.arange(T) < torch.tensor([4, 2])[:, None]
    states = torch.randn(B, T, K)
    with running(
        name, f"states (b, t, k) = ({B}, {T}, {K}) and a mask ({B}, {T})", "Print the shape after every step."
    ):
        pooled = function(states, mask)
    same_shape(name, "the result", pooled, (B, K), "(b, k)", "Which axis counts the tokens?")
    finite(name, "the result", pooled)
    disturbed = torch.where(mask[..., None], states, states + 50)
    if not close(function(disturbed, mask), pooled):
        fail(
            name,
            "what stands at padded places must not matter.",
            "In yours it does.",
            "Padded vectors must not be in the sum.",
        )
    value = torch.linspace(-1, 1, K)
    alike = function(value.expand(B, T, K), mask)
    if not close(alike, value.expand(B, K)):
        ratio = float(alike[1, 0] / value[0])
        fail(
            name,
            "the average of equal vectors is that vector.",
            f"For a sentence of 2 words and 2 pads, yours is {ratio:.3g} times it.",
            "By how many must the sum be divided?",
        )
    if not close(function(states[1:, :2], mask[1:, :2])[0], pooled[1]):
        fail(name, "with or without padding, the average is the same.", "Yours differs.", "Count only real tokens.")
    one = torch.zeros(1, T, K)
    one[0, 1] = 4
    if not close(function(one, torch.ones(1, T, dtype=torch.bool)), torch.ones(1, K)):
        fail(name, "all real tokens count alike: one 4 among four tokens makes a 1.", "Yours makes something else.")
    passed(name, "padding does not matter", "all real tokens count alike")

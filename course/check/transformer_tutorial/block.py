"""Notebook 2: add and norm, the cost of attention, positions, pooling."""

from __future__ import annotations

from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.transformer_tutorial.small import Fixed, make, replace_part, undisturbed

B, T, K = 2, 4, 5


def transformer_block(kind: Any) -> None:
    """Both checks, and that a mask reaches the attention."""
    block_attention(kind)
    block_feed_forward(kind)
    _mask_arrives(kind)


def _prepared(name: str, kind: Any) -> tuple[Any, dict[str, Fixed]]:
    """A block whose attention adds 10, whose network gives 100, and whose norms do nothing but look."""
    block = make(name, kind, K, 2).eval()
    parts = {
        "attention": Fixed(lambda x, *_, **__: torch.full_like(x, 10)),
        "mlp": Fixed(lambda x: torch.full_like(x, 100)),
        "norm_1": Fixed(lambda x: x),
        "norm_2": Fixed(lambda x: x),
    }
    for part, stand_in in parts.items():
        replace_part(name, block, part, stand_in)
    return block, parts


def _run(name: str, block: Any, x: Tensor) -> Tensor:
    with running(
        name, f"a batch of {B} sentences of {T} tokens", "Four steps: attend, add and norm, feed, add and norm."
    ):
        out = block(x)
    same_shape(name, "the output", out, (B, T, K), "(b, t, k)")
    result: Tensor = out
    return result


@undisturbed
def block_attention(kind: Any) -> None:
    """norm_1 takes the sum of what went into the attention and what came out."""
    name = "block_attention"
    block, parts = _prepared(name, kind)
    x = torch.randn(B, T, K)
    _run(name, block, x)
    if not parts["attention"].seen or not close(parts["attention"].seen[0][0], x):
        fail(
            name,
            "the attention takes x as it came in.",
            "Yours gives it something else.",
            "Post-LN: nothing comes before it.",
        )
    if not parts["norm_1"].seen:
        fail(name, "norm_1 must be used.", "Yours never calls it.", "Attend, add, then norm_1.")
    given = parts["norm_1"].seen[0][0]
    if not close(given, x + 10):
        came = "Yours is given something else."
        if close(given, torch.full_like(x, 10)):
            came = "Yours is given the attention's output alone."
        elif close(given, x):
            came = "Yours is given x alone."
        fail(
            name,
            "norm_1 must be given the sum: x plus what the attention made of it.",
            came,
            "Add first, then normalise.",
        )
    if not parts["mlp"].seen or not close(parts["mlp"].seen[0][0], x + 10):
        fail(
            name,
            "the feed-forward network takes what norm_1 gives.",
            "Yours takes something else.",
            "Keep norm_1's result and go on with it.",
        )
    passed(name, "attended and x are added", "norm_1 takes the sum")


@undisturbed
def block_feed_forward(kind: Any) -> None:
    """norm_2 takes the sum of what went into the network and what came out."""
    name = "block_feed_forward"
    block, parts = _prepared(name, kind)
    x = torch.randn(B, T, K)
    out = _run(name, block, x)
    if not parts["mlp"].seen:
        fail(name, "the feed-forward network must be used.", "Yours never calls it.", "Feed, add, then norm_2.")
    if not parts["norm_2"].seen:
        fail(name, "norm_2 must be used.", "Yours never calls it.", "Feed, add, then norm_2.")
    between, given = parts["mlp"].seen[0][0], parts["norm_2"].seen[0][0]
    if not close(given, between + 100):
        came = "Yours is given something else."
        if close(given, torch.full_like(x, 100)):
            came = "Yours is given the network's output alone."
        elif close(given, x + 100):
            came = "In yours it is the block's own input that is added."
        fail(
            name,
            "norm_2 must be given the sum: what went into the network plus what came out.",
            came,
            "The second skip starts behind the first norm.",
        )
    if not close(out, given):
        fail(name, "the block gives what norm_2 gives.", "Yours gives something else.", "Look at the last line.")
    passed(name, "the skip goes around the network", "norm_2 takes the sum")


@undisturbed
def _mask_arrives(kind: Any) -> None:
    name = "transformer_block"
    block, parts = _prepared(name, kind)
    x, mask = torch.randn(B, T, K), torch.ones(B, T, dtype=torch.bool)
    with running(name, "a batch with a mask", "forward takes x and the mask."):
        block(x, mask)
    if not any(given is mask for given in parts["attention"].seen[0]):
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

"""Notebook 1: ``TransformerEncoderLayer``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import CheckFailed, close, fail, passed, running, same_shape
from course.check.encoder_lab._building import made_of, plain, with_own_parts
from course.check.encoder_lab._hand_over import ATTENTION, FEED_FORWARD
from course.check.encoder_lab._loading import module_of
from course.check.encoder_lab._own import own_norms
from course.check.encoder_lab._stand_ins import (
    ReachedInto,
    StandIn,
    first,
    forms,
    returns_pair,
    stand_in_class,
)
from course.check.modules import part, undisturbed


@undisturbed
def encoder_layer(kind: Any) -> None:
    """Pre-LN: normalise, attend, add; normalise, feed forward, add."""
    name = "encoder_layer"
    x = 3 + 2 * torch.randn(2, 4, 6)
    silent, attention, network, asked = _with_parts(name, kind, torch.zeros(6), torch.zeros(6))
    for which, came, want in (("MultiHeadAttention", asked[0], [6, 3]), ("FeedForward", asked[1], [6, 8])):
        if came and came[0] != want:
            fail(name, f"TransformerEncoderLayer(6, 3, 8) makes its {which} with {want}.", f"Yours passes {came[0]}.")
    if not own_norms(silent):
        fail(
            name,
            "each sublayer has a norm with numbers of its own.",
            "Your layer_norm_1 and layer_norm_2 are one and the same.",
            "Make a new nn.LayerNorm for each of them.",
        )
    try:
        output = _layer_output(name, kind, silent, attention, x)
    except CheckFailed as failed:
        if not isinstance(failed.__cause__, ReachedInto):
            raise
        return with_own_parts(name, kind, (6, 3, 8), x)
    same_shape(name, "the output", output, (2, 4, 6), "(batch, tokens, d_model)")
    for which, heard in (("attention", attention), ("feed_forward", network)):
        if len(heard.received) != 1:
            fail(name, f"{which} is called once.", f"In yours it is called {len(heard.received)} times.")
    if not close(output, x):
        came = "Yours returns something else."
        if close(output, torch.zeros(2, 4, 6)):
            came = "Yours returns zeros: a skip is missing."
        elif close(output.mean(-1), torch.zeros(2, 4), 1e-3):
            came = "Yours returns it normalised: post-LN, or a skip that starts behind its norm."
        fail(
            name,
            "where attention and network give 0, nothing but the skips is left: the layer must return its input.",
            came,
            "Each skip goes around the norm as well: from before it to behind the sublayer.",
        )
    _sees_normed(name, "attention", attention, "layer_norm_1", 0.0)
    _loud_parts(name, kind, x)
    passed(name, "both norms before their sublayer", "both skips in place")


def _loud_parts(name: str, kind: Any, x: Tensor) -> None:
    """Attention that adds a lot to number 0, a network that adds a lot to number 1, norms that add 10 and 20."""
    loud, attention, network, _ = _with_parts(name, kind, 500 * torch.eye(6)[0], 7000 * torch.eye(6)[1])
    part(name, loud, "layer_norm_1").bias.fill_(10.0)
    part(name, loud, "layer_norm_2").bias.fill_(20.0)
    output = _layer_output(name, kind, loud, attention, x)
    _sees_normed(name, "attention", attention, "layer_norm_1", 10.0)
    _sees_normed(name, "feed_forward", network, "layer_norm_2", 20.0)
    if not bool((network.received[0].argmax(-1) == 0).all()) or bool((attention.received[0].argmax(-1) == 1).all()):
        fail(
            name,
            "feed_forward works on what is there after the attention was added.",
            "In yours it works on something else.",
            "Attention first; the second half starts from the first sum.",
        )
    added = (output - x).flatten(0, 1).mean(0)
    if not close(added, 500 * torch.eye(6)[0] + 7000 * torch.eye(6)[1]):
        fail(
            name,
            "what attention and network give is added to the input, and nothing else.",
            f"Where they give 500 and 7000, yours adds {added[0]:.4g} and {added[1]:.4g} to the first two numbers.",
            "The second skip starts from what the first addition gave.",
        )


def _sees_normed(name: str, which: str, heard: StandIn, norm: str, mean: float) -> None:
    received = heard.received[0]
    if not close(received.mean(-1), torch.full(received.shape[:-1], mean), 1e-3):
        fail(
            name,
            f"{which} must be given what {norm} makes (here: vectors of mean {mean:g}).",
            f"Yours have a mean of {float(received.mean()):.2g}.",
            "Pre-LN: each sublayer has a norm of its own before it.",
        )


def _with_parts(name: str, kind: Any, first_shift: Tensor, second_shift: Tensor) -> Any:
    attention, network = StandIn(torch.zeros(6, 6), first_shift), StandIn(torch.zeros(6, 6), second_shift)
    attention_class, attention_calls = stand_in_class(ATTENTION, [attention])
    network_class, network_calls = stand_in_class(FEED_FORWARD, [network])
    layer = made_of(name, kind, (6, 3, 8), MultiHeadAttention=attention_class, FeedForward=network_class)
    asked = (
        [[call.get(key) for key in ATTENTION] for call in attention_calls],
        [[call.get(key) for key in FEED_FORWARD] for call in network_calls],
    )
    layer.attention, layer.feed_forward = attention, network
    for norm in ("layer_norm_1", "layer_norm_2"):
        plain(name, layer, norm)
    return layer, attention, network, asked


def _layer_output(name: str, kind: Any, layer: Any, attention: StandIn, x: Tensor) -> Tensor:
    models = module_of(kind)
    attention.pair = forms(returns_pair(lambda: models.MultiHeadAttention(6, 3), x))[0]
    with running(name, "the layer on (2, 4, 6)"):
        return first(layer(x))

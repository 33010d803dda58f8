"""Notebook 2: do the given lines behind the context still do what they did?

The attention adds nothing here, and the feed-forward network adds one known number to feature 0 alone. The other
features are ±1 and give the scale, so that number can be read off the output.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from course.check.base import fail
from course.check.distilbert._blocks import output_of, searching_block
from course.check.distilbert._small import HEAD_SIZE, HEADS, put_linear, small_config
from course.check.modules import plain_norm

DIM = HEADS * HEAD_SIZE
#: Features: one 0, then as many 1 as -1; so the mean is 0 and the variance SHARE.
PATTERN = torch.tensor([0.0] + [1.0] * (DIM // 2) + [-1.0] * (DIM // 2))
SHARE = (DIM - 1) / DIM
SIZE = 3.0
FED = 50.0
LOOK = "The given lines behind context: were they changed?"


def given_lines(name: str, kind: Any) -> None:
    """Skip, LayerNorm, GELU, skip, LayerNorm, and both LayerNorms with the config's eps."""
    _last_norm(name, kind)
    _activation(name, kind)
    _fed(name, kind)
    _small_numbers(name, kind)


def _block(name: str, kind: Any, fed: float = FED) -> Any:
    """A block whose attention adds 0, and whose feed-forward network adds ``fed`` times activation(-1) to feature 0."""
    block = searching_block(name, kind)
    hidden_dim = block.lin1.weight.shape[0]
    put_linear(block, "v_lin", torch.zeros(DIM, DIM))
    put_linear(block, "out_lin", torch.zeros(DIM, DIM))
    put_linear(block, "lin1", torch.zeros(hidden_dim, DIM), torch.full((hidden_dim,), -1.0))
    only_feature_0 = torch.zeros(DIM, hidden_dim)
    only_feature_0[0, 0] = fed
    put_linear(block, "lin2", only_feature_0)
    plain_norm(block.sa_layer_norm)
    plain_norm(block.output_layer_norm)
    return block


def _vector(name: str, block: Any, size: float) -> Tensor:
    """(dim,): what becomes of a token whose features are ``size`` times the pattern"""
    output, _ = output_of(name, block, (size * PATTERN).expand(2, 3, DIM).contiguous())
    return output[1, 2].double()


def _last_norm(name: str, kind: Any) -> None:
    vector = _vector(name, _block(name, kind), SIZE)
    mean, variance = float(vector.mean()), float(vector.var(unbiased=False))
    if abs(mean) > 1e-3 or abs(variance - 1) > 1e-3:
        came = f"A token of yours has mean {mean:.3g} and variance {variance:.3g}."
        fail(name, "the block ends with a LayerNorm of a sum: mean 0 and variance 1.", came, LOOK)


def _activation(name: str, kind: Any) -> None:
    right = -0.5 * math.erfc(1 / math.sqrt(2))  # the exact GELU of -1
    normalised = SHARE**-0.5  # what the first LayerNorm makes of a feature of SIZE
    found = _added(_vector(name, _block(name, kind), SIZE)) * normalised / FED
    if abs(found - right) < 4e-5:
        return
    known = {
        0.0: "a ReLU.",
        -1.0: "none at all.",
        0.5 * -(1 - math.tanh(math.sqrt(2 / math.pi) * 1.044715)): "the tanh approximation of a GELU.",
        right * normalised / SIZE: "a GELU of tokens that no LayerNorm went over.",
        math.tanh(-1): "a tanh.",
        -1 / (1 + math.e): "a SiLU.",
    }
    words = next((words for value, words in known.items() if abs(found - value) < 4e-5), "another one.")
    fail(
        name,
        "the feed-forward network has a GELU between its layers, and a LayerNorm before it.",
        f"Yours looks like {words}",
        LOOK,
    )


def _fed(name: str, kind: Any) -> None:
    """The feed-forward network is fed what the first LayerNorm gives: here its feature 1 is turned into -1."""
    block = _block(name, kind)
    block.lin1.bias.zero_()
    block.lin1.weight[:, 1] = -(SHARE**0.5)
    right = -0.5 * math.erfc(1 / math.sqrt(2)) * FED * SHARE**0.5
    if abs(_added(_vector(name, block, SIZE)) - right) > 2e-3:
        came = "Yours takes something else."
        fail(name, "the feed-forward network takes what the first LayerNorm gives.", came, LOOK)


def _added(vector: Tensor) -> float:
    """What feature 0 holds, in units of a feature that was 1 in the pattern: LayerNorm leaves that ratio alone."""
    high, low = vector[1], vector[-1]
    return float((2 * vector[0] - high - low) / (high - low))


def _small_numbers(name: str, kind: Any) -> None:
    """On numbers as small as sqrt(eps), eps itself shows."""
    block = _block(name, kind)
    small = small_config().eps ** 0.5
    first = (SHARE + 1) ** -0.5
    right = -0.5 * math.erfc(1 / math.sqrt(2)) * FED / first
    found = _added(_vector(name, block, small))
    block = _block(name, kind, fed=0.0)
    block.sa_layer_norm.weight.fill_(small)  # what the second LayerNorm gets is small too
    last = float(_vector(name, block, SIZE)[1])
    if abs(found / right - 1) > 1e-2 or abs(last - (2 * SHARE) ** -0.5) > 1e-2:
        fail(
            name,
            "both LayerNorms are made with eps=config.eps.",
            "On very small numbers yours give something else.",
            LOOK,
        )

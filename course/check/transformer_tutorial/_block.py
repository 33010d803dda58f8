"""A ``TransformerBlock`` whose sublayers are stand-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, running, same_shape
from course.check.side_effects import side_effects
from course.check.transformer_tutorial._calls import make
from course.check.transformer_tutorial._stand_ins import Fixed

B, T, K = 2, 4, 5


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


def prepared(name: str, kind: Any) -> Prepared:
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


def second_half_cut(name: str, kind: Any) -> bool:
    """Whether gradients end in the second half, with sublayers that let all of them through."""
    block, scale = make(name, kind, K, 2).eval(), torch.tensor(2.0)
    reached: list[bool] = []

    def feed(x: Tensor) -> Tensor:
        reached.append(x.requires_grad)
        return 3 * x.relu() - 1

    block.attention = Fixed(lambda x, *_, **__: scale * x.flip(1))
    block.mlp = nn.Sequential(Fixed(feed), nn.Identity(), nn.Identity())
    found = side_effects(block, torch.randn(B, T, K), weights=[scale, *block.norm_2.parameters()])
    if "cut" not in found or not reached:
        return False
    from_x, from_attention, *_ = found["cut"]
    first = not reached[-1] if from_x else from_attention
    return not first and (any(found["cut"]) or not reached[-1])


def fail_cut(name: str, came: str) -> None:
    look = "detach, .data, no_grad, tolist() and NumPy cut a result off from what it is made of."
    fail(name, "training must reach all that the result is made of.", came, look)


def _standard(x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / centred.square().mean(-1, keepdim=True).sqrt()


def run(name: str, block: Any, x: Tensor) -> Tensor:
    look = "Four steps: attend, add and norm, feed, add and norm."
    with running(name, f"a batch of {B} sentences of {T} tokens", look):
        out = block(x.clone())
    same_shape(name, "the output", out, (B, T, K), "(b, t, k)", "Does forward return it?")
    result: Tensor = out
    return result


def explain_sum(name: str, given: list[Tensor], entered: Tensor, left: Tensor, sublayer: str) -> None:
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

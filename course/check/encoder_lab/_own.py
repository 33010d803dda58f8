"""What a student's module has of its own: its parts, the numbers of its norms, its side effects, its dropout."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from course.check.encoder_lab._attempts import Answers
from course.check.encoder_lab._stand_ins import first
from course.check.limits import attempt_limit
from course.check.side_effects import side_effects


def parts(owner: nn.Module, *names: str) -> list[bool]:
    """Whether ``__init__`` made each of these parts, under its name. Asked before a stand-in takes its place."""
    return [isinstance(getattr(owner, name, None), nn.Module) for name in names]


def learned(owner: nn.Module, norm: str) -> int:
    """How many of a norm's two parameters, scale and shift, it has."""
    layer = getattr(owner, norm, None)
    return sum(getattr(layer, name, None) is not None for name in ("weight", "bias"))


def own_norms(layer: nn.Module) -> bool:
    """Whether the two norms of an encoder layer share no scale."""
    scales = [getattr(getattr(layer, name, None), "weight", None) for name in ("layer_norm_1", "layer_norm_2")]
    return scales[0] is None or scales[0] is not scales[1]


def effects(*makes: Callable[[], nn.Module], given: Tensor, within: tuple[str, ...] = ("",)) -> Answers:
    """``changed`` and ``cut`` of the first of these modules that works; see :mod:`course.check.side_effects`.

    within: how the names of the weights begin that a gradient must come back to.
    """
    for make in makes:
        with suppress(Exception), attempt_limit():  # a part, which has points of its own, may stop or never end
            module = make()
            named = module.named_parameters()
            loaded = [weight for name, weight in named if name.startswith(within) and not weight.requires_grad]
            if found := side_effects(partial(_first, module), given, weights=loaded):
                return dict(found)
    return {}


def _first(module: nn.Module, given: Tensor) -> Tensor:
    return first(module(given))


def kept_factor(head: nn.Module, vectors: Tensor) -> float:
    """By what a head in training multiplies the numbers of a vector that it does not drop."""
    linear: Any = head.linear
    linear.weight.data.zero_()
    linear.weight.data[:, 0] = 1.0
    linear.bias.data.zero_()
    ones = torch.ones(64, *vectors.shape[1:])
    return float(first(head.train()(ones)).max())

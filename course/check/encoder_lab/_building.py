"""A student's class built for a check; whatever goes wrong is a failed check."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import CheckFailed, close, fail, passed, running, same_shape
from course.check.encoder_lab._loading import module_of
from course.check.encoder_lab._stand_ins import ReachedInto, first, replaced
from course.check.modules import part, plain_norm

#: Sizes of a small TransformerEncoder, no two of them equal, and ids for it: two sentences of three tokens.
ENCODER_SIZES = (11, 8, 6, 3, 10, 4)
IDS = torch.tensor([[3, 7, 1], [2, 5, 4]])


def with_own_parts(
    name: str,
    kind: Any,
    sizes: tuple[Any, ...],
    x: Tensor,
    shape: tuple[int, ...] | None = None,
    axes: str = "(batch, tokens, d_model)",
) -> None:
    """For a forward that reaches into its parts, so that stand-ins are of no use: the shape alone is looked at."""
    module = make(name, kind, *sizes)
    with running(name, f"the module on {tuple(x.shape)}"):
        output = first(module(x))
    same_shape(name, "the output", output, shape or tuple(x.shape), axes)
    passed(name, "shape (your forward reaches into its parts: the rest is looked at when graded)")


def made_of(name: str, kind: Any, sizes: tuple[Any, ...], **classes: type) -> Any:
    """Made with these classes for its parts; with its own where ``__init__`` reaches into one, to set its weights."""
    try:
        with replaced(module_of(kind), **classes):
            return make(name, kind, *sizes)
    except CheckFailed as failed:
        if not isinstance(failed.__cause__, ReachedInto):
            raise
    return make(name, kind, *sizes)


def plain(name: str, module: nn.Module, norm: str) -> None:
    """Its norm without scale and shift; one that has none that could be learned is a failed check."""
    layer = part(name, module, norm)
    if getattr(layer, "weight", None) is None or getattr(layer, "bias", None) is None:
        fail(
            name,
            f"{norm} has a scale and a shift that can be learned.",
            f"Yours is {layer}.",
            "nn.LayerNorm(d_model) has both, unless it is told otherwise.",
        )
    plain_norm(layer)


def make(name: str, kind: Any, *sizes: Any) -> Any:
    """``kind(*sizes)`` in eval mode; whatever goes wrong is a failed check."""
    label = getattr(kind, "__name__", "the class")
    with running(name, f"{label}{sizes}", "Look at __init__."):
        module = kind(*sizes)
    if not isinstance(module, nn.Module):
        fail(name, f"{label} must be an nn.Module.", f"It is a {type(module).__name__}.", "class …(nn.Module)")
    return module.eval()


def settled(name: str, output: Tensor, again: Tensor) -> None:
    if not close(again, output):
        fail(
            name,
            "in eval mode the same input gives the same output.",
            "Yours differs from call to call.",
            "nn.Dropout knows of eval mode; F.dropout has to be told.",
        )

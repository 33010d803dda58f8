"""What the checks and the hidden cells of the modern block share: making a class, and what its ``__init__`` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import fail, running
from course.check.both_ways import meaning
from course.modern_parts import ReadyAttention, ReadyRMSNorm, ReadySwiGLU, ready_rotate

#: What the notebook's names mean where an exercise must not depend on the ones before it.
READY: Mapping[str, Any] = {
    "RMSNorm": ReadyRMSNorm,
    "rotate": ready_rotate,
    "SwiGLU": ReadySwiGLU,
    "GroupedQueryAttention": ReadyAttention,
}


def parameters(kind: Any, *sizes: int, given: Sequence[Tensor]) -> dict[str, Any]:
    """``made``: a line for each parameter of ``kind(*sizes)``, say ``up_proj.weight 10 6``; ``runs``: whether it works.

    The parts of earlier exercises are ready-made. No parameter where the class cannot be made.
    """
    with meaning(_space(kind), dict(READY)), suppress(Exception):
        module = kind(*sizes)
        lines = [" ".join([name, *map(str, one.shape)]) for name, one in module.named_parameters()]
        found: dict[str, Any] = {"made": lines or [""], "runs": False}
        with suppress(Exception):
            found["runs"] = bool(torch.is_tensor(module(*(x.clone() for x in given))))
        return found
    return {"made": [""], "runs": False}


def made(name: str, kind: Any, *sizes: Any, **named: Any) -> Any:
    """The student's module, with ready-made parts of earlier exercises. Fails where it cannot be made."""
    if not callable(kind):
        fail(name, "give the check the class itself.", f"It got {kind!r:.40}.", "Write its name without brackets.")
    with running(name, f"making a {getattr(kind, '__name__', 'module')}", "Look at __init__."):
        with meaning(_space(kind), dict(READY)):
            module = kind(*sizes, **named)
        if not isinstance(module, nn.Module):
            raise TypeError(f"expected an nn.Module, not {type(module).__name__}")
        return module.eval()


def run(name: str, module: Any, *given: Tensor) -> Any:
    """What the module gives, with ready-made parts of earlier exercises. Fails where it stops."""
    shapes = ", ".join(str(tuple(x.shape)) for x in given)
    look = "Print the shape after every step."
    with running(name, f"an input of shape {shapes}", look), meaning(_space(type(module)), dict(READY)):
        return module(*given)


def check_weights(name: str, module: nn.Module, sizes: Mapping[str, Sequence[int]]) -> None:
    """Fails where a linear layer is missing, has other sizes, or has a bias."""
    for layer, want in sizes.items():
        found = getattr(module, layer, None)
        weight = getattr(found, "weight", None)
        if not isinstance(weight, nn.Parameter):
            came = f"{type(module).__name__} has none of that name."
            fail(name, f"a linear layer called {layer} is expected.", came, f"Names count: self.{layer} = nn.Linear(…)")
        if tuple(weight.shape) != tuple(want):
            came = f"Yours has {tuple(weight.shape)}."
            fail(
                name,
                f"the weight of {layer} must have shape {tuple(want)}.",
                came,
                "Which sizes come in, which go out?",
            )
        if getattr(found, "bias", None) is not None:
            fail(name, f"{layer} has no bias.", "Yours has one.", "nn.Linear(…, bias=False)")


def turned(angles: Tensor) -> tuple[Tensor, Tensor]:
    """cos and sin of angles (tokens, head_size / 2), each (tokens, head_size)"""
    both = torch.cat([angles, angles], dim=-1)
    return both.cos(), both.sin()


def _space(kind: Any) -> dict[str, Any]:
    """The names of the notebook that a class or function stands in."""
    own = getattr(kind, "__init__", kind) if isinstance(kind, type) else kind
    for function in (own, getattr(kind, "forward", None), kind):
        space = getattr(function, "__globals__", None)
        if isinstance(space, dict):
            return space
    return {}

"""What checks and hidden cells of the modern block share: ready-made parts, and what a class makes in ``__init__``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

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
    with meaning(space(kind), dict(READY)), suppress(Exception):
        module = kind(*sizes)
        lines = [" ".join([name, *map(str, one.shape)]) for name, one in module.named_parameters()]
        found: dict[str, Any] = {"made": lines or [""], "runs": False}
        with suppress(Exception):
            found["runs"] = bool(torch.is_tensor(module(*(x.clone() for x in given))))
        return found
    return {"made": [""], "runs": False}


def turned(angles: Tensor) -> tuple[Tensor, Tensor]:
    """cos and sin of angles (tokens, head_size / 2), each (tokens, head_size)"""
    both = torch.cat([angles, angles], dim=-1)
    return both.cos(), both.sin()


def space(kind: Any) -> dict[str, Any]:
    """The names of the notebook that a class or function stands in."""
    own = getattr(kind, "__init__", kind) if isinstance(kind, type) else kind
    for function in (own, getattr(kind, "forward", None), kind):
        space = getattr(function, "__globals__", None)
        if isinstance(space, dict):
            return space
    return {}

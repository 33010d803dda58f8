"""What checks and hidden cells of the modern block share: ready-made parts, and what a class makes in ``__init__``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from course.check.with_ready_parts import meaning
from course.modern_parts import ReadyAttention, ReadyRMSNorm, ReadySwiGLU, ready_rotate

#: What the notebook's names mean where an exercise must not depend on the ones before it.
READY: Mapping[str, Any] = {
    "RMSNorm": ReadyRMSNorm,
    "rotate": ready_rotate,
    "SwiGLU": ReadySwiGLU,
    "GroupedQueryAttention": ReadyAttention,
}


def parameters(student_class: Any, *sizes: int, given: Sequence[Tensor]) -> dict[str, Any]:
    """``made``: a line for each parameter, say ``up_proj.weight 10 6``; ``runs``: whether these sizes work.

    The parts of earlier exercises are ready-made. No parameter where the class cannot be made.
    """
    with meaning(space(student_class), dict(READY)), suppress(Exception):
        module = student_class(*sizes)
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


def space(student_class: Any) -> dict[str, Any]:
    """The names of the notebook that a class or function stands in."""
    own = getattr(student_class, "__init__", student_class) if isinstance(student_class, type) else student_class
    for function in (own, getattr(student_class, "forward", None), student_class):
        space = getattr(function, "__globals__", None)
        if isinstance(space, dict):
            return space
    return {}

"""The two halves of a ``TransformerBlock``, each by itself: the student's lines, with the other half ready-made."""

from __future__ import annotations

import ast
from typing import Any

from torch import Tensor

from course.check.ready_steps import filled, rewritten, set_by


def first_half(student_class: type) -> type:
    """Ends before the network or norm_2 comes into play, and gives ``x``. Raises ValueError where no line sets x."""
    return rewritten(student_class, {}, _first_half)


def _first_half(body: list[ast.stmt]) -> list[ast.stmt]:
    half = body[: _first(body, "mlp", "norm_2")]
    if not any("x" in set_by(statement) for statement in half):
        raise ValueError("nothing is called x before the second half")
    return [*filled(half), *ast.parse("return x").body]


def second_half(student_class: type, entered: Tensor) -> type:
    """``x`` is ``entered`` where the network comes into play. ValueError where it never does, or nothing is x."""
    return rewritten(student_class, {"ready_x": entered}, _second_half)


def _second_half(body: list[ast.stmt]) -> list[ast.stmt]:
    place = _first(body, "mlp")
    before = [statement for statement in body[:place] if "x" not in set_by(statement)]
    if len(before) == place:
        raise ValueError("nothing is called x before the second half")
    return filled([*before, *ast.parse("x = ready_x").body, *body[place:]])


def _first(body: list[ast.stmt], *parts: str) -> int:
    """The place of the first statement that uses ``self.<part>``."""
    for place, statement in enumerate(body):
        if any(isinstance(node, ast.Attribute) and node.attr in parts for node in ast.walk(statement)):
            return place
    raise ValueError(f"forward does not use {' or '.join(parts)}")


def as_half(module: Any, half: type) -> Any:
    """The module, of whose forward only a half is left."""
    module.__class__ = half
    return module

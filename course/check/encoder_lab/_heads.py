"""A ``MultiHeadAttention`` with stand-ins for its heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from course.check.encoder_lab._building import make
from course.check.encoder_lab._hand_over import HEAD
from course.check.encoder_lab._loading import module_of
from course.check.encoder_lab._stand_ins import replaced, stand_in_class
from course.check.modules import part


def with_heads(name: str, kind: Any, d_model: int, count: int, parts: Sequence[nn.Module]) -> Any:
    """Made with stand-ins for its heads -> the module, its heads, the arguments they were made with."""
    head_class, made = stand_in_class(HEAD, parts)
    with replaced(module_of(kind), AttentionHead=head_class):
        attention = make(name, kind, d_model, count)
    return attention, list(part(name, attention, "heads")), made

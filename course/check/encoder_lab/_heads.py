"""A ``MultiHeadAttention`` with stand-ins for its heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from course.check.encoder_lab._building import made_of
from course.check.encoder_lab._hand_over import HEAD
from course.check.encoder_lab._stand_ins import stand_in_class
from course.check.modules import part


def with_heads(name: str, kind: Any, d_model: int, count: int, parts: Sequence[nn.Module]) -> Any:
    """Made with stand-ins for its heads -> the module, its heads, the arguments they were made with."""
    head_class, made = stand_in_class(HEAD, parts)
    attention = made_of(name, kind, (d_model, count), AttentionHead=head_class)
    return attention, list(part(name, attention, "heads")), made

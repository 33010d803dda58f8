"""A ``TransformerBlock`` whose attention is a stand-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import fail
from course.check.transformer_tutorial._calls import make

B, T, K = 2, 4, 5


class Fixed(nn.Module):
    """A stand-in for a layer: computes what it is told, and takes down what it was given."""

    def __init__(self, compute: Callable[..., Tensor]) -> None:
        super().__init__()
        self.compute = compute
        self.seen: list[tuple[Any, ...]] = []

    def forward(self, *arguments: Any, **named: Any) -> Tensor:
        self.seen.append((*arguments, *named.values()))
        return self.compute(*arguments, **named)


def prepared(name: str, student_class: Any) -> tuple[Any, Tensor]:
    """The block, and a batch for it."""
    block = make(name, student_class, K, 2).eval()
    for part in ("attention", "mlp", "norm_1", "norm_2"):
        if not isinstance(getattr(block, part, None), nn.Module):
            fail(name, f"the block must have a part called {part}.", "Yours has none.", "Was a given line lost?")
    block.attention = Fixed(lambda x, *_, **__: 2 * x + 1)
    return block, torch.randn(B, T, K)

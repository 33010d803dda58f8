"""Notebook 1: attention as the method of a head."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.encoder_lab._building import make
from course.check.encoder_lab._ladder import LONG, ladder
from course.check.modules import undisturbed


@undisturbed
def head_attention(kind: Any) -> None:
    """The method scaled_dot_product_attention of a head."""
    name = "head_attention"
    head = make(name, kind, 7, LONG, LONG, 5)

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        with running(name, "scaled_dot_product_attention(q, k, v)", "Is it a method, with self in front?"):
            found = head.scaled_dot_product_attention(q, k, v)
        if not isinstance(found, tuple | list) or len(found) != 2:
            fail(
                name,
                "the method returns two things: output, weights.",
                f"Yours returns one {type(found).__name__}.",
                "return output, weights",
            )
        return found[0]

    ladder(name, attend, LONG)
    query, key, value = torch.randn(2, 3, LONG), torch.randn(2, 7, LONG), torch.randn(2, 7, 5)
    _, weights = head.scaled_dot_product_attention(query, key, value)
    same_shape(name, "the weights (returned second)", weights, (2, 3, 7), "(batch, queries, keys)")
    # values that are unit vectors: the output is then the weights themselves
    if not close(attend(query, key, torch.eye(7).expand(2, 7, 7)), weights):
        fail(
            name,
            "the weights that are returned must be those that mixed the values.",
            "Yours are others.",
            "Return the weights as they come out of the softmax.",
        )
    passed(name, "output and weights", "each row sums to 1", "scaled once")

"""Notebook 1: ``AttentionHead``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.encoder_lab._building import make
from course.check.encoder_lab._stand_ins import first
from course.check.modules import part, undisturbed


@undisturbed
def attention_head(kind: Any) -> None:
    """Projections, and the forward pass through them."""
    name = "attention_head"
    head = make(name, kind, 6, 4, 4, 5)
    for layer, size in (("wq", 4), ("wk", 4), ("wv", 5)):
        found = part(name, head, layer)
        if tuple(getattr(found, "weight", torch.zeros(0)).shape) != (size, 6):
            fail(
                name,
                f"{layer} must make {size} numbers out of 6 in AttentionHead(d_model=6, d_k=4, d_q=4, d_v=5).",
                f"Yours is {found}.",
                "The order of the arguments is d_model, d_k, d_q, d_v.",
            )
    received: list[tuple[Tensor, ...]] = []
    mixed = torch.randn(2, 3, 5)

    if len({id(getattr(head, layer).weight) for layer in ("wq", "wk", "wv")}) < 3:
        fail(
            name,
            "wq, wk and wv each have weights of their own.",
            "Two of yours are one and the same layer.",
            "Make a new nn.Linear for each of them.",
        )

    def method(q: Tensor, k: Tensor, v: Tensor, *others: Any, **named: Any) -> tuple[Tensor, Tensor]:
        received.append((q, k, v))
        return mixed, torch.ones(2, 3, 3) / 3

    for factor, layer in enumerate((head.wq, head.wk, head.wv), start=1):
        layer.weight.fill_(float(factor))
        if layer.bias is not None:
            layer.bias.zero_()
    head.scaled_dot_product_attention = method
    with running(name, "the head on (2, 3, 6)", "Project first, then attend."):
        output = first(head(torch.ones(2, 3, 6)))
    same_shape(name, "the output", output, (2, 3, 5), "(batch, tokens, d_v)")
    if not received:
        passed(name, "sizes", "shape (your forward attends without the method; that is looked at when it is graded)")
        return
    for letter, number, came in zip("qkv", (6.0, 12.0, 18.0), received[0], strict=True):
        if not close(came, torch.full(came.shape, number)):
            raw = "the hidden states themselves" if close(came, torch.ones(came.shape)) else "something else"
            fail(
                name,
                f"{letter}, what w{letter} makes of the hidden states, goes to the method in place "
                f"{'qkv'.index(letter) + 1}.",
                f"Yours passes {raw} there.",
                "Project first, then attend.",
            )
    if not close(output, mixed):
        fail(
            name,
            "forward returns what the method gives first.",
            "Yours returns something else.",
            "Nothing is added to it or changed here: the skips come later, in the layer.",
        )
    biased = [layer for layer in ("wq", "wk", "wv") if getattr(head, layer).bias is not None]
    note = [f"but {', '.join(biased)} with a bias, which eq. (1) does not have (no points lost)"] if biased else []
    passed(name, "wq, wk, wv", "projected, then attended", "returns the output", *note)

"""Whole classes: what a later notebook asks before it takes over an earlier one's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, passed, running
from course.check.transformer_tutorial._block import B, K, T, prepared
from course.check.transformer_tutorial._calls import make, undisturbed


def _passes(student_class: Any, *checks: str) -> None:
    """Those checks of the package, by name: some are written by hand, others are made of packs."""
    package = import_module(__name__.rpartition(".")[0])
    for check in checks:
        getattr(package, check)(student_class)


def dot_product_attention(student_class: Any) -> None:
    """All five checks."""
    _passes(student_class, *(f"attention_{part}" for part in ("scores", "output", "dropout", "heads", "mask")))


def self_attention(student_class: Any) -> None:
    """Both checks, and one on the whole, with the attention that the class uses itself."""
    _passes(student_class, "self_attention_maps", "self_attention_forward")
    _attention_inside(student_class)


@undisturbed
def _attention_inside(student_class: Any) -> None:
    """Order of tokens does not matter, sentences stay apart, padding has no say."""
    name = "self_attention"
    layer = make(name, student_class, 6, heads=2).eval()

    class Alone:
        """The layer's own attention, looked at as if it were the class of the exercise before."""

        def __new__(cls, dropout: float) -> Any:
            attention = make(name, student_class, 6, heads=2, dropout=dropout).attention
            return attention

    dot_product_attention(Alone)
    x = torch.randn(3, 5, 6)
    mask = torch.arange(5) < torch.tensor([5, 3, 4])[:, None]
    with running(name, "a batch with a mask", "forward hands the mask on to the attention."):
        out: Tensor = layer(x, mask)
    short: Tensor = layer(x[1:2, :3], mask[1:2, :3])
    if not close(out[1, :3], short[0]):
        fail(
            name, "a sentence with padding must give what it gives without.", "Yours differs.", "Is the mask handed on?"
        )
    shuffled: Tensor = layer(x[:, [3, 1, 4, 0, 2]])
    if not close(shuffled, layer(x)[:, [3, 1, 4, 0, 2]]):
        fail(
            name,
            "in another order, the same tokens must collect the same.",
            "Yours collect something else.",
            "Self-attention knows nothing of positions.",
        )
    passed(name, "the attention inside is right", "order does not matter", "padding has no say")


def transformer_block(student_class: Any) -> None:
    """Both checks, and that a mask reaches the attention."""
    _passes(student_class, "block_attention", "block_feed_forward")
    _mask_arrives(student_class)


@undisturbed
def _mask_arrives(student_class: Any) -> None:
    name = "transformer_block"
    block, x = prepared(name, student_class)
    mask = torch.ones(B, T, dtype=torch.bool)
    with running(name, "a batch with a mask", "forward takes x and the mask."):
        block(x, mask)
    if not any(argument is mask for argument in block.attention.seen[0]):
        fail(name, "the block must hand the mask on to the attention.", "Yours loses it.", "The given line does it.")
    real = make(name, student_class, K + 1, 2).eval()
    if not isinstance(real.mlp, nn.Module) or not bool(torch.isfinite(real(torch.randn(B, T, K + 1))).all()):
        fail(name, "the block must give finite numbers.", "Yours gives nan or inf.")
    passed(name, "the mask reaches the attention")


def positional_encoding(student_class: Any) -> None:
    """Both checks."""
    _passes(student_class, "positional_values", "positional_forward")

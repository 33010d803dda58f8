"""Whole classes: what a later notebook asks before it takes over an earlier one's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, passed, running
from course.check.modules import make, part, undisturbed


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
    layer = make(name, student_class, 6, heads=2)

    class Alone:
        """The layer's own attention, looked at as if it were the class of the exercise before."""

        def __new__(cls, dropout: float) -> Any:
            return make(name, student_class, 6, heads=2, dropout=dropout).attention

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


class _Attention(nn.Module):
    """In place of the block's attention: takes down what it was given besides x."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Any] = []

    def forward(self, x: Tensor, *others: Any, **named: Any) -> Tensor:
        self.given = [*others, *named.values()]
        return 2 * x + 1


@undisturbed
def _mask_arrives(student_class: Any) -> None:
    name, (b, t, k) = "transformer_block", (2, 4, 5)
    block = make(name, student_class, k, 2)
    for layer in ("attention", "mlp", "norm_1", "norm_2"):
        part(name, block, layer)
    block.attention, mask = _Attention(), torch.ones(b, t, dtype=torch.bool)
    with running(name, "a batch with a mask", "forward takes x and the mask."):
        block(torch.randn(b, t, k), mask)
    if not any(given is mask for given in block.attention.given):
        fail(name, "the block must hand the mask on to the attention.", "Yours loses it.", "The given line does it.")
    real = make(name, student_class, k + 1, 2)
    if not bool(torch.isfinite(real(torch.randn(b, t, k + 1))).all()):
        fail(name, "the block must give finite numbers.", "Yours gives nan or inf.")
    passed(name, "the mask reaches the attention")


def positional_encoding(student_class: Any) -> None:
    """Both checks."""
    _passes(student_class, "positional_values", "positional_forward")

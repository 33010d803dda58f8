"""Sinusoidal positions, by what must be true of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, same_shape
from course.check.modules import make, undisturbed

SIZE, LENGTH = 8, 40


def made_with_table(name: str, student_class: Any) -> tuple[Any, Tensor]:
    """The module, and its table (LENGTH, SIZE)"""
    encoding = make(name, student_class, SIZE, max_len=LENGTH)
    pe = getattr(encoding, "pe", None)
    if not isinstance(pe, Tensor):
        fail(name, "the module must have a tensor called pe.", f"Yours has {type(pe).__name__}.", "Look at __init__.")
    table = pe.detach().squeeze()
    same_shape(name, "pe", table, (LENGTH, SIZE), "(max_len, emb_size)", "One row for each position.")
    return encoding, table


@undisturbed
def positional_values(student_class: Any) -> None:
    """Pairs of sine and cosine, each pair slower than the one before; not learned, but part of the module."""
    name = "positional_values"
    encoding, pe = made_with_table(name, student_class)
    start = torch.tensor([0.0, 1.0]).repeat(SIZE // 2)
    if not close(pe[0], start):
        fail(
            name,
            "position 0 must read 0, 1, 0, 1, …: sin 0 in the even columns, cos 0 in the odd ones.",
            f"Yours reads {', '.join(f'{number:.2g}' for number in pe[0, :4].tolist())}, …",
            "Positions are counted from 0.",
        )
    pairs = pe.unflatten(1, (-1, 2))  # (positions, pairs, 2)
    if not close(pairs.norm(dim=-1), torch.ones(LENGTH, SIZE // 2)):
        fail(
            name,
            "columns 2i and 2i + 1 are sine and cosine of one angle: their squares sum to 1.",
            "Yours do not.",
            "Both columns of a pair share one frequency.",
        )
    steps = torch.atan2(pairs[1, :, 0], pairs[1, :, 1])  # the angle from one position to the next
    if abs(float(steps[0]) - 1) > 1e-3:
        fail(
            name,
            "the first pair turns by an angle of 1 from each position to the next.",
            f"Yours turns by {float(steps[0]):.3g}.",
            "10000 to the power of 0 is 1.",
        )
    ratios = steps[1:] / steps[:-1]
    if not close(ratios, ratios[:1].expand_as(ratios), 1e-3) or float(ratios[0]) >= 1:
        fail(
            name,
            "each pair turns more slowly than the one before, always by the same factor.",
            f"Yours turn by {', '.join(f'{step:.3g}' for step in steps.tolist())}.",
            "Look at the exponent.",
        )
    if abs(float(steps[-1]) - 0.001) > 1e-5:
        fail(
            name,
            f"with emb_size = {SIZE}, the last pair turns by 10000 to the power of -6/8, which is 1/1000.",
            f"Yours turns by {float(steps[-1]):.3g}.",
            "Which numbers does 2i run through, and what is the base?",
        )
    turned = pe[2:12] @ pe[5:15].T
    if not close(turned.diagonal(), turned.diagonal()[:1].expand(10)):
        fail(name, "how alike two positions are depends on their distance alone.", "In yours it does not.")
    names = {word for word, _ in encoding.named_parameters()}
    if "pe" in names:
        fail(
            name,
            "pe is computed, not learned.",
            "Yours is a parameter.",
            "A buffer travels with the module, unlearned.",
        )
    if "pe" not in {word for word, _ in encoding.named_buffers()}:
        fail(
            name,
            "pe must move to the GPU with its module.",
            "Yours is a plain attribute and would be left out.",
            "nn.Module can register a tensor that is no parameter.",
        )
    passed(name, "starts with 0, 1, 0, 1", "pairs of sine and cosine", "ever slower", "a buffer")

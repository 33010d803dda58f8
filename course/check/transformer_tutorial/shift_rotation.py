"""The stretch goal of notebook 2: a shift of sinusoidal positions is a rotation. Ungraded."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course.check.base import as_array, close, fail, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.stretch import begun

NAME = "shift_rotation"
LENGTH = 220
#: A hundred steps in single precision come this close.
EXACT = 5e-5
BACK = "Exchange the two sines, or transpose the block."
#: steps and emb_size; with one pair only, little can be wrong but the block itself
TRIED = ((2, 2), (0, 6), (1, 8), (3, 8), (-5, 8), (100, 32))


@undisturbed
def shift_rotation(function: Callable[[int, int], Any]) -> None:
    """The matrix leads from the row of every position to the row that lies the given steps further."""
    if not begun(NAME, function, 1, 6):
        return
    for steps, size in TRIED:
        with running(NAME, f"steps = {steps}, emb_size = {size}", "Print the shape of each part."):
            found = as_array(function(steps, size))
        same_shape(NAME, "the matrix", found, (size, size), "(emb_size, emb_size)", "One 2 by 2 block for each pair.")
        matrix = torch.as_tensor(found).double()
        if not _leads(matrix, size, steps):
            expected = (
                f"emb_size = {size}, steps = {steps}: R @ pe[pos] is pe[pos + {steps}] for every pos, to {EXACT:g}."
            )
            fail(NAME, expected, *_seen(matrix, steps, size))
    passed(NAME, "one matrix for all positions", "forwards and back", "emb_size 2 to 32")


def _rows(size: int) -> Tensor:
    """Sine and cosine side by side, in double precision: (positions, size)"""
    angles = torch.arange(LENGTH).double().outer(_angles(size))
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


def _angles(size: int) -> Tensor:
    """By how much each pair turns in one step."""
    return torch.logspace(0, -4 * (size - 2) / size, size // 2, dtype=torch.float64)


def _leads(matrix: Tensor, size: int, steps: int) -> bool:
    """Whether it leads from each row of the table to the row so many steps further."""
    rows = _rows(size)
    first, last = max(0, -steps), LENGTH - max(0, steps)
    gap = (rows[first:last] @ matrix.T - rows[first + steps : last + steps]).abs().max()
    return bool(gap <= EXACT)


def _seen(matrix: Tensor, steps: int, size: int) -> tuple[str, str]:
    """What came, and where to look"""
    if _leads(matrix, size, -steps):
        return f"Yours leads to pe[pos - ({steps})]: it turns the other way.", BACK
    order = torch.cat((torch.arange(0, size, 2), torch.arange(1, size, 2)))
    beside = torch.empty_like(matrix)
    beside[order[:, None], order] = matrix
    if _leads(beside, size, steps) or _leads(beside, size, -steps):
        came = "Yours fits a table whose first half holds all sines and whose second half holds all cosines."
        return came, "Here columns 2i and 2i + 1 are a pair: the block stands at rows and columns 2i and 2i + 1."
    blocks = matrix.unflatten(0, (-1, 2)).unflatten(2, (-1, 2)).diagonal(dim1=0, dim2=2)  # (2, 2, pairs)
    if not close(torch.block_diag(*blocks.movedim(-1, 0)), matrix, 1e-6):
        return "Yours mixes columns of different pairs.", "Outside of the blocks on the diagonal, everything is 0."
    if not close(blocks[0, 0] * blocks[1, 1] - blocks[0, 1] * blocks[1, 0], torch.ones(size // 2), 1e-3):
        return "Its blocks are no rotations.", "Two cosines, two sines, and one of the sines has a minus."
    turned, want = torch.atan2(blocks[0, 1], blocks[0, 0]), steps * _angles(size)
    if size > 2 and close(turned, turned[:1].expand_as(turned), 1e-6):
        return f"In yours every pair turns by {_number(turned[0])}.", "Each pair has an angle of its own, as in pe."
    wrong = next((pair for pair in range(size // 2) if not _same_angle(turned[pair], want[pair])), None)
    if wrong is None:
        return "Yours differs by less than a thousandth.", "Is the base 10000, and is everything kept in float32?"
    if _same_angle(turned[wrong], -want[wrong]):
        return f"Your pair {wrong} turns the other way.", BACK
    came = f"Pair {wrong} turns by {steps} · {_number(want[wrong] / steps) if steps else 0} in pe, and"
    return (
        f"{came} by {_number(turned[wrong])} in yours.",
        "The exponent of pair i is -2i / emb_size; then times steps.",
    )


def _same_angle(one: Tensor, other: Tensor) -> bool:
    """But for whole turns"""
    return close(torch.stack((one.sin(), one.cos())), torch.stack((other.sin(), other.cos())), 1e-3)


def _number(angle: Tensor) -> str:
    return f"{float(angle):.3g}"

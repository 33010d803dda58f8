"""The tables of rotary positions, by what must be true of them."""

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.modules import undisturbed

SIZE = 8


@undisturbed
def rotary_tables(function: Any) -> None:
    """Cosines and sines of one angle for each position and pair; both halves of the columns are alike."""
    name = "rotary_tables"
    positions = torch.arange(6)
    cos, sin = _tables(name, function, positions)
    if not close(cos.square() + sin.square(), torch.ones(6, SIZE)):
        fail(name, "cos and sin are those of one angle: their squares sum to 1.", "Yours do not.")
    if not close(cos[0], torch.ones(SIZE)):
        came = f"Yours has cosines {', '.join(f'{number:.2g}' for number in cos[0, :3].tolist())}, …"
        fail(name, "position 0 is not turned: cosines 1, sines 0.", came, "cos comes first; the angle is 0 there.")
    half = SIZE // 2
    if not close(cos[:, :half], cos[:, half:]) or not close(sin[:, :half], sin[:, half:]):
        came = "In yours they differ."
        fail(name, "columns i and i + head_size / 2 have the same angle.", came, "All angles, then all of them again.")
    steps = torch.atan2(sin[1, :half], cos[1, :half])
    if abs(float(steps[0]) - 1) > 1e-3:
        came = f"Yours turns it by {float(steps[0]):.3g}."
        fail(name, "position 1 turns the first pair by an angle of 1.", came, "base to the power of 0 is 1.")
    if abs(float(steps[-1]) - 0.001) > 1e-5:
        came = f"Yours turns it by {float(steps[-1]):.3g}."
        expected = (
            f"with head_size = {SIZE}, position 1 turns the last pair by 10000 to the power of -6/8, which is 0.001."
        )
        fail(name, expected, came, "Which numbers does 2i run through?")
    _arguments(name, function, (cos, sin))
    passed(name, "position 0 is not turned", "two halves alike", "ever slower pairs", "any positions, any base")


def _arguments(name: str, function: Any, tables: tuple[Tensor, Tensor]) -> None:
    later = _tables(name, function, torch.tensor([4, 2]))
    if any(not close(new, old[[4, 2]]) for new, old in zip(later, tables, strict=True)):
        look = "A model that goes on writing starts at a later position."
        fail(name, "row t belongs to positions[t].", "The positions that are given change nothing in yours.", look)
    _, sin = _tables(name, function, torch.tensor([1]), 16.0)
    if abs(float(torch.asin(sin[0, SIZE // 2 - 1])) - 0.125) > 1e-4:
        want = "with base 16, position 1 turns the last of four pairs by 1/8."
        fail(name, want, "Yours turns it by another angle.", "Is base used?")


def _tables(name: str, function: Any, positions: Tensor, *base: float) -> tuple[Tensor, Tensor]:
    with running(name, f"positions of shape ({len(positions)},) and head_size = {SIZE}", "Print every shape."):
        two = function(positions, SIZE, *base)
    if not isinstance(two, tuple | list) or len(two) != 2:
        fail(name, "two tables come back: cos, sin.", f"Yours gives {type(two).__name__}.")
    for what, table in zip(("cos", "sin"), two, strict=True):
        same_shape(name, what, table, (len(positions), SIZE), "(tokens, head_size)", "Both numbers of a pair need it.")
    return two[0], two[1]

"""The stretch goal of notebook 4: a rotation as a product of complex numbers. Ungraded."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed, running, same_shape
from course.check.decoder._modern import turned
from course.check.modules import undisturbed
from course.check.stretch import begun
from course.modern_parts import ready_rotate


@undisturbed
def complex_rotation(function: Any) -> None:
    """The same as rotate, from the angles themselves."""
    name = "complex_rotation"
    x, angles = torch.randn(2, 3, 5, 6), torch.rand(5, 3) + 0.3
    if not begun(name, function, x, angles):
        return
    with running(name, "x of shape (2, 3, 5, 6) and angles of shape (5, 3)", "Print every shape."):
        out = function(x, angles)
    same_shape(name, "the result", out, (2, 3, 5, 6), "(batch, heads, tokens, head_size)")
    if out.is_complex():
        fail(name, "real numbers come back.", "Yours are complex.", "torch.cat of .real and .imag")
    if not close(out, ready_rotate(x, *turned(angles)), 1e-3):
        look = "The first half is the real part, the second half the imaginary part."
        fail(name, "the result is that of rotate.", "Yours differs.", look)
    passed(name, "the same as rotate")

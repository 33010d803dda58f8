"""Whole numbers from -127 to 127, one scale per row, and back. Right: float64 NumPy."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake

from ._rules import KIND, back_again


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for shape, zero in (((4, 6), None), ((5, 3), 2), ((3, 8), None)):
        weight = generator.normal(0, 1, shape) * 10.0 ** generator.uniform(-2, 1, (shape[0], 1))
        weight[1, 0] = -2 * np.abs(weight[1]).max()  # the largest number of a row may be negative
        if zero is not None:
            weight[zero] = 0
        weight = weight.astype(np.float32)
        scale = np.abs(weight.astype(np.float64)).max(1, keepdims=True) / 127
        codes = weight / np.where(scale > 0, scale, 1)
        near = np.abs(np.abs(codes - np.floor(codes)) - 0.5) < 0.01  # rounding could go either way
        weight = (weight + 0.05 * scale * near).astype(np.float32)
        restored = np.round(weight / np.where(scale > 0, scale, 1)) * scale
        made.append(Case({}, {"weight": weight}, expected={"restored": restored, "largest": np.array(127)}))
    return made


HEAD = "def quantise(weight):"
# Lines of the solution that mistakes change.
LARGEST = "weight.abs().amax(dim=1, keepdim=True)"
SCALE = f"({LARGEST} / 127).clamp(min=1e-12)"
CODES = "(weight / scale).round()"
BACK = "codes.float() * scale"

MISTAKES = [
    Mistake(
        "Q-one",
        "One scale for the whole matrix: rows of small numbers lose nearly all of them.",
        "The largest number of each row.",
        (LARGEST, "weight.abs().amax()"),
    ),
    Mistake(
        "Q-column",
        "Each column has a scale.",
        "Each row has one: the maximum runs over the columns.",
        (LARGEST, "weight.abs().amax(dim=0, keepdim=True)"),
    ),
    Mistake(
        "Q-sign",
        "The largest number of a row was taken, and not the largest in size.",
        "abs() first.",
        (LARGEST, "weight.amax(dim=1, keepdim=True)"),
        (CODES, "(weight / scale).round().clamp(-127, 127)"),
    ),
    Mistake("Q-floor", "The numbers are rounded down.", "The nearest whole number: round.", (".round()", ".floor()")),
    Mistake(
        "Q-cut", "The decimals are cut off: to(torch.int8) does not round.", "First round.", (".round()", ".trunc()")
    ),
    Mistake(
        "Q-128",
        "The range is -128 to 127: what becomes 128 does not fit.",
        "Divide by 127.",
        ("/ 127", "/ 128"),
        (CODES, "(weight / scale).round().clamp(-128, 127)"),
    ),
    Mistake("Q-bits", "Seven bits are used.", "127 whole numbers on each side of 0.", ("/ 127", "/ 63")),
    Mistake("Q-back", "The way back does not multiply by the scale.", "codes times scale", (BACK, "codes.float()")),
    KIND.by((".to(torch.int8)", "")),
    CHANGED.by((CODES, "weight.div_(scale).round()")),
]

RIGHT = {
    "where": [(SCALE, f"torch.where({LARGEST} > 0, {LARGEST} / 127, 1.0)")],
    "scales as one row of numbers": [
        (SCALE, "weight.abs().max(dim=1).values.div(127).clamp(min=1e-12)"),
        (CODES, "(weight / scale[:, None]).round()"),
        (BACK, "codes * scale[:, None]"),
    ],
    "half away from zero": [(CODES, "((weight / scale).sign() * ((weight / scale).abs() + 0.5).floor())")],
}

EXERCISE = Exercise(
    cases,
    back_again,
    MISTAKES,
    right=RIGHT,
    accepted={"detach": "Rounded numbers have no gradient."},
    framework="torch",
    atol=1e-6,
    rtol=1e-4,
    shows=("int8", "one scale per row", "back within half a step", "a row of zeros"),
    axes={"restored": "rows, columns"},
)

"""Which rows of the stored table differ by more than two standard errors of the difference."""

from __future__ import annotations

from .._choices import statements
from ._stored import mean_and_error, stored

#: Two rows of the table, and the column of each.
PAIRS = [
    (("layers 0, 3: soft", "accuracy"), ("layers 0, 3, untrained", "accuracy")),
    (("layers 0, 3: soft", "accuracy"), ("layers 0, 3: soft", "int8 accuracy")),
    (("teacher, 6 layers", "accuracy"), ("layers 0, 3: soft", "accuracy")),
    (("layers 0, 3: soft", "accuracy"), ("layers 0, 3: hard labels", "accuracy")),
]


def _question(*pair: tuple[str, str]) -> tuple[str, dict[str, str]]:
    """The right choice, and why the other one is wrong."""
    (a, a_error), (b, b_error) = (
        mean_and_error([run[column] for run in stored("distilled")[row]]) for row, column in pair
    )
    apart, bound = abs(a - b), 2 * (a_error**2 + b_error**2) ** 0.5
    right, other = ("differ", "noise") if apart > bound else ("noise", "differ")
    return right, {
        other: f"the means are {apart:.3f} apart, and two standard errors of the difference are {bound:.3f}."
    }


QUESTIONS = {" and ".join(f"{row} ({column})" for row, column in pair): _question(*pair) for pair in PAIRS}

EXERCISE = statements("reading", QUESTIONS)

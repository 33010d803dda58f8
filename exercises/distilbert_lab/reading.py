"""Which rows of the stored table differ by more than two paired standard errors, with every seed."""

from __future__ import annotations

from .._choices import statements
from ._stored import bits, stored

SOFT = "layers 0, 3: soft"
#: Two rows of the table, and which answers of each. A row with one run is compared with every run of the other.
PAIRS = [
    ((SOFT, "answers"), ("layers 0, 3, untrained", "answers")),
    ((SOFT, "answers"), (SOFT, "int8 answers")),
    (("teacher, 6 layers", "answers"), (SOFT, "answers")),
    ((SOFT, "answers"), ("layers 0, 3: hard labels", "answers")),
]


def _question(*pair: tuple[str, str]) -> tuple[str, dict[str, str]]:
    """The right choice, and why the other one is wrong."""
    table = stored("distilled")
    labels = bits(table["labels"])
    first, second = ([bits(run[kind]) == labels for run in table["rows"][row]] for row, kind in pair)
    runs = max(len(first), len(second))
    apart = [
        a.astype(int) - b for a, b in zip(first * (runs // len(first)), second * (runs // len(second)), strict=True)
    ]
    shares = [(float(one.mean()), 2 * float(one.std()) / len(one) ** 0.5) for one in apart]
    beyond = {(mean > 0) - (mean < 0) if abs(mean) > bound else 0 for mean, bound in shares}
    right, other = ("differ", "noise") if beyond in ({1}, {-1}) else ("noise", "differ")
    means, bounds = ", ".join(f"{mean:+.3f}" for mean, _ in shares), ", ".join(f"{bound:.3f}" for _, bound in shares)
    return right, {other: f"with the three seeds the accuracies differ by {means}, and two paired errors are {bounds}."}


QUESTIONS = {" and ".join(f"{row} ({kind})" for row, kind in pair): _question(*pair) for pair in PAIRS}

EXERCISE = statements("reading", QUESTIONS)

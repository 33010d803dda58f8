"""What the trusted side knows of one hidden exercise: how its cases are made and how answers are judged.

An :class:`Exercise` is one slug of ``references/``. Its cases come from an independent oracle (never
from the course's solution), so that the solution is tested too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.text_answers import TEXT, read_text, text_array
from autograder.verdict import CellVerdict, Check

__all__ = ["TEXT", "Answers", "Case", "Exercise", "Judgement", "Mistake", "Rule", "text_array"]


@dataclass(frozen=True)
class Case:
    """One stored case. ``inputs`` and ``weights`` go to the kernel, ``expected`` never does.

    Texts (lists of strings, say) stand in ``texts`` and, among the expected answers, as arrays made by
    :func:`text_array`.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)
    texts: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Answers:
    """What a submission handed over for one case (untrusted, bounded in size).

    ``source`` is the text of the student's solution cells of the notebook, for checks on style. ``earlier`` holds the
    verdicts on the exercises before this one in the same notebook, by slug. A rule that does not charge one mistake
    twice asks them what was charged; the numbers of a submission are no evidence of that.
    """

    arrays: Mapping[str, np.ndarray]
    source: str = ""
    earlier: Mapping[str, CellVerdict] = field(default_factory=dict)

    def text(self, name: str) -> Any | None:
        """The text or list of texts called ``name``; None where there is none that can be read."""
        return read_text(self.arrays.get(TEXT + name))

    def charged(self, *slugs: str) -> bool:
        """True where one of these exercises was judged before, and lost points."""
        found = [self.earlier[slug] for slug in slugs if slug in self.earlier]
        return any(verdict.points is not None and verdict.points < verdict.max_points for verdict in found)


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer: what somebody computes who makes this mistake.

    ``answers`` gives, for a case, the arrays such a submission hands over; it may return only those
    which tell the mistake apart.
    """

    id: str
    message: str
    hint: str
    answers: Callable[[Case], Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Judgement:
    """The checks of one case, and the share of the cell's points that they earn (None: all or nothing)."""

    checks: Sequence[Check]
    share: float | None = None

    @property
    def earned(self) -> float:
        if self.share is not None:
            return self.share
        return float(all(check.passed for check in self.checks))


Rule = Callable[["Exercise", Case, Answers], Judgement]


@dataclass(frozen=True)
class Exercise:
    """One slug. ``make`` draws the cases from a seeded generator; ``rule`` judges one case (default: compare)."""

    slug: str
    make: Callable[[np.random.Generator], Sequence[Case]]
    rule: Rule | None = None
    mistakes: Sequence[Mistake] = ()
    framework: str = "torch"
    atol: float = 1e-5
    rtol: float = 1e-4

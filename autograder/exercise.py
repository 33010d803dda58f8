"""What the trusted side knows of one hidden exercise: how its cases are made and how answers are judged.

An :class:`Exercise` is one slug of ``references/``. Its cases come from an independent oracle (never
from the course's solution), so that the solution is tested too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.verdict import Check

TEXT = "text:"


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

    ``source`` is the text of the student's solution cells of the notebook, for checks on style.
    """

    arrays: Mapping[str, np.ndarray]
    source: str = ""

    def text(self, name: str) -> Any | None:
        """The text or list of texts called ``name``; None where there is none that can be read."""
        array = self.arrays.get(TEXT + name)
        if array is None or array.dtype != np.uint8 or array.ndim != 1:
            return None
        try:
            return json.loads(array.tobytes().decode())
        except ValueError:
            return None


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


def text_array(value: Any) -> np.ndarray:
    """Text, or a list of texts, as the bytes under which it travels."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)

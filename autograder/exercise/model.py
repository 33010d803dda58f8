"""What an exercise is: how its cases are drawn, how an answer is judged, and which mistakes have a name.

The expected answers come from an independent oracle, never from the course's own solution, so that the solution is
tested as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.exercise.text import TEXT, read_text
from autograder.model.verdict import CellVerdict, Check


@dataclass(frozen=True)
class Case:
    """One stored case. ``inputs`` and ``weights`` go to the kernel, ``expected`` never does.

    Texts (lists of strings, for example) are in ``texts`` and, among the expected answers, are arrays made by
    :func:`autograder.exercise.text_array`.
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
    verdicts on the exercises before this one, by slug, in this notebook and in those before it. A rule that does not
    charge one mistake twice asks them what was charged; the numbers of a submission are no evidence of that.
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
class Judgement:
    """The checks of one case, and the share of the cell's points that they earn (None: all or nothing)."""

    checks: Sequence[Check]
    share: float | None = None

    @property
    def earned(self) -> float:
        if self.share is not None:
            return self.share
        return float(all(check.passed for check in self.checks))


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer: how feedback describes it, and how it is recognised.

    answers: for a case, the arrays that somebody who makes the mistake hands over; it may return only those that tell
    the mistake apart. None where only the exercise's rule can recognise it.
    variant: for the exercise's rule, what differs in the computation: settings of the assignment's own model, say.
    share: the share of the points that is left where this is the only mistake (partial credit).
    """

    id: str
    message: str
    hint: str = ""
    answers: Callable[[Case], Mapping[str, np.ndarray]] | None = None
    variant: Any = None
    share: float = 0.0

    def check(self, **values: object) -> Check:
        """The failed check that names this mistake. ``values`` fill the placeholders ``{name}`` of the message."""
        return Check(self.id, False, self.message.format(**values) if values else self.message, self.hint, self.id)

    def judgement(self, *others: Check, **values: object) -> Judgement:
        """The judgement on an answer with this mistake; ``values`` as for :meth:`check`."""
        return Judgement([self.check(**values), *others], self.share)


Rule = Callable[["Exercise", Case, Answers], Judgement]


@dataclass(frozen=True)
class Exercise:
    """One exercise. ``make`` draws the cases from a seeded generator; ``rule`` judges one case (default: compare).

    mistakes: every known mistake that feedback on this exercise may name, in order of precedence.
    framework: ``torch`` or ``numpy``, what the stored arrays become in the notebook.
    atol, rtol: tolerances as in ``numpy.isclose``.
    slug: ``<assignment>/<exercise>``; the loader sets it from the exercise's folder.
    """

    make: Callable[[np.random.Generator], Sequence[Case]]
    rule: Rule | None = None
    mistakes: Sequence[Mistake] = ()
    framework: str = "numpy"
    atol: float = 1e-5
    rtol: float = 1e-4
    slug: str = ""

    def mistake(self, id: str) -> Mistake:
        """The mistake of the catalogue with this id. Raises KeyError where there is none."""
        for mistake in self.mistakes:
            if mistake.id == id:
                return mistake
        raise KeyError(f"{self.slug} has no mistake {id!r} in its catalogue: add it to Exercise.mistakes")

"""What the solution hands over once a known mistake is patched into it: run once per drawn case, and stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from autograder.errors import GradingError
from autograder.exercise.model import Case, Exercise, Patch

Arrays = Mapping[str, np.ndarray]


class RunPatched(Protocol):
    """Runs patched solutions; the package ``authoring`` has the one implementation."""

    def __call__(
        self, made: Exercise, cases: Sequence[Case], patches: Mapping[str, Sequence[Patch | str]]
    ) -> Mapping[str, Sequence[Arrays]]:
        """Key -> for each case what the solution with these patches hands over; nothing from where it stops."""

    def digest(self, made: Exercise) -> str:
        """Digest of what the numbers are made of, beside the cases: the solution, its cells, the patches."""


def with_mistakes(made: Exercise, cases: Sequence[Case], run: RunPatched | None) -> list[Case]:
    """The cases with what each mistake with a name hands over; of its answers those that are expected."""
    patches = numbered(made)
    if run is None or not patches:
        return list(cases)
    found = run(made, cases, patches)
    return [
        replace(case, mistakes={key: _expected(case, arrays[index]) for key, arrays in found.items()})
        for index, case in enumerate(cases)
    ]


def _expected(case: Case, arrays: Arrays) -> Arrays:
    return {name: array for name, array in arrays.items() if name in case.expected}


def numbered(made: Exercise) -> dict[str, Sequence[Patch | str]]:
    """Key -> patches, of the mistakes that are recognised by what the patched solution hands over."""
    return {key: one.patches for key, one in made.patched() if one.id and not one.by_rule}


def needs_runner(made: Exercise) -> bool:
    return bool(numbered(made))


def require_runner(made: Exercise, run: RunPatched | None) -> None:
    """Raises GradingError where patches cannot be run."""
    if run is None and needs_runner(made):
        raise GradingError(
            f"{made.slug}: its mistakes are patches of the solution, which must be run: "
            f"'autograder references {made.slug.partition('/')[0]}' does"
        )

"""What the solution hands over once a known mistake is patched into it: run once per drawn case, and stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from autograder.errors import GradingError
from autograder.exercise.compare import compare_case, same_value
from autograder.exercise.model import Answers, Case, Exercise, Patch
from autograder.exercise.text import TEXT, read_text

Arrays = Mapping[str, np.ndarray]
#: What :func:`autograder.exercise.case_inputs.called` hands over beside the answer.
BESIDE = {"again", "changed"}


@dataclass(frozen=True)
class Ran:
    """What a solution handed over, case by case; stopped: how it ended before its end, in a line, or empty."""

    arrays: Sequence[Arrays]
    stopped: str = ""


class RunPatched(Protocol):
    """Runs patched solutions; the package ``authoring`` has the one implementation."""

    def __call__(
        self, made: Exercise, cases: Sequence[Case], patches: Mapping[str, Sequence[Patch | str]]
    ) -> Mapping[str, Ran]:
        """Key -> what the solution with these patches does; the solution itself where there are none."""

    def digest(self, made: Exercise) -> str:
        """Digest of what the numbers are made of, beside the cases: the solution, its cells, the patches."""


def with_mistakes(made: Exercise, cases: Sequence[Case], run: RunPatched | None) -> tuple[list[Case], dict[str, str]]:
    """The cases with what each mistake with a name hands over; of its answers those that are expected.

    And key of a mistake -> how the solution with its patches stopped, where it did.
    """
    patches = numbered(made)
    if run is None or not patches:
        return list(cases), {}
    ran = run(made, cases, patches)
    mistaken = [
        replace(case, mistakes={key: _expected(case, one.arrays[index]) for key, one in ran.items()})
        for index, case in enumerate(cases)
    ]
    return mistaken, {key: one.stopped for key, one in ran.items() if one.stopped}


def require_right_solution(made: Exercise, cases: Sequence[Case], run: RunPatched | None) -> None:
    """Raises GradingError where the solution itself stops, or is not what the oracle says."""
    if run is None:
        return
    ran = run(made, cases, {"": ()})[""]
    if ran.stopped:
        raise GradingError(f"{made.slug}: the solution stops with {ran.stopped}")
    for number, (case, arrays) in enumerate(zip(cases, ran.arrays, strict=True)):
        if arrays and (wrong := _differs(made, case, arrays)):
            raise GradingError(f"{made.slug}, case {number}: the solution and the oracle differ: {wrong}")


def _differs(made: Exercise, case: Case, arrays: Arrays) -> str:
    """The first answer of the solution that is not what is expected, both values; empty where all is right."""
    with np.errstate(all="ignore"):
        judgement = (made.rule or compare_case)(made, case, Answers(arrays))
    if judgement.earned == 1:
        return ""
    for name, want in case.expected.items():
        label = name.removeprefix(TEXT)
        if name not in arrays and {label, TEXT + label} & {*arrays}:
            kinds = ("numbers", "a text") if name.startswith(TEXT) else ("a text", "numbers")
            return f"{label} is {kinds[0]}, expected is {kinds[1]}"
        if name not in arrays:
            came = ", ".join(sorted({one.removeprefix(TEXT) for one in arrays} - BESIDE))
            return f"it hands over {came or 'nothing'}, and {label} is expected"
        if not same_value(name, arrays[name], want, made):
            return f"{label} is {_shown(name, arrays[name])}, expected is {_shown(name, want)}"
    return next(check.message for check in judgement.checks if not check.passed)


def _shown(name: str, array: np.ndarray) -> str:
    if name.startswith(TEXT):
        return repr(read_text(array))
    numbers = np.array2string(array, precision=4, threshold=12, edgeitems=3, separator=", ").split()
    return f"{' '.join(numbers)} of shape {array.shape}" if array.ndim else " ".join(numbers)


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

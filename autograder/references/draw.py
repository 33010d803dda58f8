"""Drawing the cases of an exercise from the course's seed and the exercise's name.

What the solution hands over once a known mistake is patched into it is run once per drawn case, and stored.
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from autograder.errors import GradingError
from autograder.exercise.compare import compare_case, matches, same_value
from autograder.exercise.model import Answers, Case, Exercise, Mistake, Patch
from autograder.exercise.values import TEXT, read_text
from autograder.references.loader import told

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


#: The seed of the references that the kit ships with. Everybody can draw them: no exam is made from it.
PUBLIC_SEED = 2026
#: The seed of public cases, by which visible checks judge: hidden ones are never drawn from it.
VISIBLE_SEED = 1_000_003
#: So often cases are drawn, until each known mistake shows.
DRAWS = 20


def new_seed() -> int:
    """A seed that nobody can guess."""
    return secrets.randbits(63)


def generator(seed: int, slug: str) -> np.random.Generator:
    """The random numbers of one exercise, made from the course's seed and the exercise's name.

    Another exercise beside it therefore changes nothing.
    """
    name = int.from_bytes(hashlib.sha256(slug.encode()).digest()[:16], "big")
    return np.random.default_rng([seed, name])


def draw(made: Exercise, seed: int, run: RunPatched | None = None, skip: int = 0) -> list[Case]:
    """The cases of an exercise. Drawn again where chance made a known mistake look like the right answer.

    run: runs the solution with the patches of its mistakes; without it, their numbers are left out, and so is the
    question whether they show. skip: so many draws come first that turned out to be of no use. Raises GradingError
    where the solution itself is not right, where a mistake stops, and where every draw hides one.
    """
    random = generator(seed, made.slug)
    for _ in range(skip):
        _cases(made, random)
    for number in range(DRAWS):
        drawn = _cases(made, random)
        if not number:
            require_right_solution(made, drawn, run)
        cases, stopped = with_mistakes(made, drawn, run)
        unseen = [
            (key, mistake.id)
            for key, mistake in made.patched()
            if _is_shown_by_numbers(mistake, run) and not any(_shows(mistake, case, made) for case in cases)
        ]
        if not unseen:
            return cases
        for key, id in unseen:
            if key in stopped:
                raise GradingError(
                    f"{made.slug}: with the mistake {id!r} the solution stops with {stopped[key]}; a known mistake "
                    'gives a wrong answer: mend the patch, or leave the id out (Mistake("", ...))'
                )
    raise GradingError(
        f"{made.slug}: none of {DRAWS} draws from seed {seed} tells the mistake {unseen[0][1]!r} from the right "
        "answer; the oracle must draw other cases"
    )


def _cases(made: Exercise, random: np.random.Generator) -> list[Case]:
    try:
        drawn = list(made.make(random))
    except Exception as error:  # the author's own code
        raise GradingError(f"{made.slug}: its oracle cannot draw cases: {told(error)}") from error
    for number, case in enumerate(drawn):
        held = [*case.inputs, *case.texts]
        if lacking := [name for name in made.given if name not in held]:
            raise GradingError(
                f"{made.slug}: Exercise.given names {lacking[0]!r}; case {number} holds {', '.join(held) or 'no input'}"
            )
    return drawn


def _is_shown_by_numbers(mistake: Mistake, run: RunPatched | None) -> bool:
    return bool(run and mistake.patches and mistake.id and not mistake.by_rule)


def _shows(mistake: Mistake, case: Case, made: Exercise) -> bool:
    """True where somebody who makes the mistake hands over something else than the expected answer."""
    wrong = made.made_by(mistake, case)
    return any(name not in case.expected or not matches(case.expected, {name: wrong[name]}, made) for name in wrong)

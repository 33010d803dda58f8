"""Drawing the cases of an exercise from the course's seed and the exercise's name."""

import hashlib
import secrets

import numpy as np

from autograder.errors import GradingError
from autograder.exercise.compare import matches
from autograder.exercise.model import Case, Exercise, Mistake
from autograder.references.loader import told
from autograder.references.patched import RunPatched, require_right_solution, with_mistakes

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

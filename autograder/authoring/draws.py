"""Drawing references until every sample answer gets the name that its author says.

Which mistakes can be told apart depends on the cases. What chance made alike, another draw from the same seed tells
apart; the manifest keeps how many draws were of no use.
"""

from __future__ import annotations

from collections.abc import Collection

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import Progress, try_all
from autograder.authoring.patched import patched_solutions
from autograder.authoring.sample_answers import samples
from autograder.authoring.trial import Trials
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.store import References

MAX_DRAWS = 10


def draw_named(
    course: Course,
    name: str,
    seed: int,
    only: Collection[str] = (),
    *,
    every: bool = True,
    progress: Progress = lambda done, of: None,
) -> list[str]:
    """Draw the references of an assignment, or of some of its exercises; returns what no draw could tell apart.

    every: try the sample answers of exercises, too, whose stored files agree with what is drawn. Raises GradingError.
    """
    references, skip = References.of_course(course.root), dict[str, int]()
    with patched_solutions(course, name) as run:
        wanted = set(references.build(name, seed, only=only, run=run))
        if every:
            wanted = set(only or loader.names(references.folder, name))
        for draws in range(1, MAX_DRAWS + 1):
            found = _by_chance(course, name, wanted, progress)
            if not found or draws == MAX_DRAWS:
                return [f"{exercise}: {text}" for exercise, texts in found.items() for text in texts]
            skip |= {one: references.skipped(name, one) + 1 for one in found}
            wanted = set(found)  # also where chance drew the same once more
            references.build(name, seed, only=wanted, skip=skip, run=run)
    raise AssertionError("the loop ends with its last draw")


def _by_chance(course: Course, name: str, exercises: set[str], progress: Progress) -> dict[str, list[str]]:
    """Exercise -> what its sample answers are told otherwise than their author says."""
    folder = References.of_course(course.root).folder
    tried = [one for one in sorted(exercises) if any(loader.sample_answers(folder, f"{name}/{one}"))]
    if not tried:
        return {}
    found: dict[str, list[str]] = {}
    try:
        assignment = Assignment.unreleased(course, name)
    except GradingError:
        return {}  # its notebooks are still in the making
    with Trials(assignment) as trials:
        chosen = [sample for one in tried for sample in samples(trials, one)]
        for one in try_all(trials, chosen, progress):
            if texts := [problem.text for problem in one.problems if problem.by_chance]:
                found.setdefault(one.sample.exercise, []).append(f"{one.sample.answer.name!r}: {'; '.join(texts)}")
    return found

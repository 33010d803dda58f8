"""Drawing references until every sample answer gets the points and the name that its author says.

Which mistakes can be told apart depends on the cases, and so does a right answer that rounds otherwise than the
solution, or a wrong one that is right by chance. What chance did, another draw from the same seed mends; the manifest
keeps how many draws were of no use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import Progress, try_all
from autograder.authoring.patched import patched_solutions
from autograder.authoring.sample_answers import Problem, Sample, samples
from autograder.authoring.trial import Trials
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.store import References

MAX_DRAWS = 10


@dataclass(frozen=True)
class _Doubt:
    """A problem of a sample answer that may be due to the cases of the exercise ``problem.drawn``."""

    sample: Sample
    problem: Problem

    def __str__(self) -> str:
        return f"{self.sample.exercise}: {self.sample.answer.name!r}: {self.problem.text}"

    @property
    def points(self) -> str:
        """Of which answer which exercise's points are wrong; empty where it is something else."""
        return f"{self.sample} {self.problem.drawn}" if self.problem.points else ""


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

    every: try the sample answers of exercises, too, whose stored files agree with what is drawn. Points that are wrong
    after two draws are not chance: they are left to 'autograder check'. Raises GradingError.
    """
    references, skip, wrong = References.of_course(course.root), dict[str, int](), set[str]()
    with patched_solutions(course, name) as run:
        wanted = set(references.build(name, seed, only=only, run=run))
        if every:
            wanted = set(only or loader.names(references.folder, name))
        chosen = frozenset(wanted)  # the others keep their cases
        for draws in range(1, MAX_DRAWS + 1):
            doubts = [one for one in _doubts(course, name, wanted, progress) if one.problem.drawn in chosen]
            found = [one for one in doubts if one.points not in wrong]
            if not found or draws == MAX_DRAWS:
                return [str(one) for one in found if not one.points]
            wrong |= {one.points for one in found if one.points}
            again = {one.problem.drawn for one in found}
            skip |= {one: references.skipped(name, one) + 1 for one in again}
            wanted = _answered_with(references, name, again)  # also where chance drew the same once more
            references.build(name, seed, only=again, skip=skip, run=run)
    raise AssertionError("the loop ends with its last draw")


def _answered_with(references: References, name: str, exercises: set[str]) -> set[str]:
    """These exercises, and those that the same solution cells answer."""
    cells = {
        slug.partition("/")[2]: made.cell or slug.partition("/")[2] for slug, made in references.exercises(name).items()
    }
    return {one for one, cell in cells.items() if cell in {cells[chosen] for chosen in exercises}}


def _doubts(course: Course, name: str, exercises: set[str], progress: Progress) -> Iterator[_Doubt]:
    """What becomes of these exercises' sample answers otherwise than their author says."""
    folder = References.of_course(course.root).folder
    tried = [one for one in sorted(exercises) if any(loader.sample_answers(folder, f"{name}/{one}"))]
    if not tried:
        return
    try:
        assignment = Assignment.unreleased(course, name)
    except GradingError:
        return  # its notebooks are still in the making
    with Trials(assignment) as trials:
        chosen = [sample for one in tried for sample in samples(trials, one)]
        for one in try_all(trials, chosen, progress):
            yield from (_Doubt(one.sample, problem) for problem in one.problems if problem.drawn)

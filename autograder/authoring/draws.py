"""Drawing references until every sample answer gets the points and the name that its author says.

Which mistakes can be told apart depends on the cases, and so does a right answer that rounds otherwise than the
solution, or a wrong one that is right by chance. What chance did, another draw from the same seed mends; the manifest
keeps how many draws were of no use.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import Progress, finding_of, try_all
from autograder.authoring.patched import patched_solutions
from autograder.authoring.sample_answers import Problem, Sample, samples
from autograder.authoring.trial import Trials
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.store import References
from autograder.release.findings import Accepted

MAX_DRAWS = 10


@dataclass(frozen=True)
class _Doubt:
    """A problem of a sample answer that may be due to the cases of the exercise ``problem.drawn``."""

    sample: Sample
    problem: Problem

    def __str__(self) -> str:
        return f"{self.sample.exercise}: {self.sample.answer.name!r}: {self.problem.text}"

    @property
    def key(self) -> str:
        """The same for the same problem after another draw. Wrong points are one problem, however many they are."""
        return f"{self.sample} {self.problem.drawn}" if self.problem.points else str(self)

    @property
    def other_draws(self) -> int:
        """So many other draws may show the same problem; after that it is not chance."""
        return 1 if self.problem.points else 2


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
    after two different draws, and names after three, are not chance. Points are left to 'autograder check'.
    Raises GradingError.
    """
    references, skip, seen = References.of_course(course.root), dict[str, int](), Counter[str]()
    with patched_solutions(course, name) as run:
        wanted = set(references.build(name, seed, only=only, run=run))
        if every:
            wanted = set(only or loader.names(references.folder, name))
        chosen = frozenset(wanted)  # the others keep their cases
        for draws in range(1, MAX_DRAWS + 1):
            doubts = [one for one in _doubts(course, name, wanted, progress) if one.problem.drawn in chosen]
            found = [one for one in doubts if seen[one.key] < one.other_draws]
            if not found or draws == MAX_DRAWS:
                return [str(one) for one in doubts if not one.problem.points]
            again = {one.problem.drawn for one in found}
            skip |= {one: references.skipped(name, one) + 1 for one in again}
            changed = references.build(name, seed, only=again, skip=skip, run=run)
            seen.update(one.key for one in doubts if one.problem.drawn in changed)
            wanted = again | {one.sample.exercise for one in found}  # also where chance drew the same once more
    raise AssertionError("the loop ends with its last draw")


def _doubts(course: Course, name: str, exercises: set[str], progress: Progress) -> Iterator[_Doubt]:
    """Problems of the sample answers to these exercises, and to those that the same solution cells answer.

    What is accepted is left out.
    """
    folder, accepted = References.of_course(course.root).folder, Accepted.of_course(course.root)
    try:
        assignment = Assignment.unreleased(course, name)
    except GradingError:
        return  # its notebooks are still in the making
    cells = {
        one: {answer.cell for answers in loader.sample_answers(folder, f"{name}/{one}") for answer in answers}
        for one in loader.names(folder, name)
    }
    shared = {cell for one in exercises for cell in cells[one]} - assignment.deliverables
    tried = sorted(one for one, own in cells.items() if own and (one in exercises or own & shared))
    if not tried:
        return
    with Trials(assignment) as trials:
        chosen = [sample for one in tried for sample in samples(trials, one)]
        for one in try_all(trials, chosen, progress):
            for problem in one.problems:
                if problem.drawn and accepted.reason(finding_of(one.sample, problem)) is None:
                    yield _Doubt(one.sample, problem)

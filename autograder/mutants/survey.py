"""All about the mutants of an assignment: tried, the rest compared with the solution, the author's word on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.mutants.equivalence import compared_with_solution
from autograder.mutants.generate import Mutant, mutants, sample
from autograder.mutants.outcome import REJECTED, Outcome
from autograder.mutants.parts import SolutionPart, parts
from autograder.mutants.run import Progress, tried
from autograder.references import loader


@dataclass(frozen=True)
class Survey:
    """What became of an assignment's mutants. stale: ids that ``answers.py`` accepts and that no mutant has."""

    chosen: Sequence[Mutant]
    outcomes: dict[str, Outcome]
    stale: Sequence[str] = ()

    @property
    def survivors(self) -> list[tuple[Mutant, Outcome]]:
        return [(one, self.outcomes[one.id]) for one in self.chosen if self.outcomes[one.id].kind == "survivor"]

    @property
    def refused(self) -> list[tuple[Mutant, Outcome]]:
        """Those that a visible check refuses though they get full points."""
        found = [(one, self.outcomes[one.id]) for one in self.chosen]
        return [(one, outcome) for one, outcome in found if outcome.kind not in REJECTED and outcome.visible]


def survey(
    course: Course, assignment: Assignment, exercise: str, most: int, seed: int, workers: int, progress: Progress
) -> Survey:
    """Try the mutants of an assignment, or of one of its exercises; at most ``most`` of them (0: all).

    Raises GradingError for an exercise that does not exist or has no solution in Python.
    """
    found = parts(assignment, exercise)
    if not found:
        known = sorted({name for part in parts(assignment) for name in part.exercises})
        raise GradingError(
            f"{assignment.name} has no autograded exercise {exercise!r}; those with a solution to change are "
            f"{', '.join(known) or 'none'}"
        )
    every = [mutant for part in found for mutant in mutants(part)]
    chosen = sample(every, most, seed) if most else every
    first = tried(course, assignment, chosen, workers, progress)
    left = [mutant for mutant in chosen if first[mutant.id].kind == "passed"]
    compared = compared_with_solution(course, assignment, left, workers, progress)
    outcomes = first | {name: replace(one, visible=first[name].visible) for name, one in compared.items()}
    reasons = {part: accepted(assignment, part) for part in found}
    for mutant in chosen:
        reason = reasons[mutant.part].get(mutant.id) or reasons[mutant.part].get(mutant.operator)
        if reason and outcomes[mutant.id].kind == "survivor":
            outcomes[mutant.id] = replace(outcomes[mutant.id], kind="accepted", said=reason)
    used = {mutant.id for mutant in every} | {mutant.operator for mutant in every}
    return Survey(chosen, outcomes, sorted({name for own in reasons.values() for name in own} - used))


def accepted(assignment: Assignment, part: SolutionPart) -> dict[str, str]:
    """id or operator -> reason, of the mutants that the authors of the part's exercises accept."""
    found: dict[str, str] = {}
    for name in part.exercises:
        found |= loader.accepted_mutants(assignment.references.folder, f"{assignment.name}/{name}")
    return found

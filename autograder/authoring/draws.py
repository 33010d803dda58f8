"""Drawing references until every sample answer gets the points and the name that its author says.

Which mistakes can be told apart depends on the cases, and so does a right answer that rounds otherwise than the
solution, or a wrong one that is right by chance. What chance did, another draw from the same seed mends; the manifest
keeps how many draws were of no use.

``autograder references --watch`` tells what an exercise's answers get once it is saved.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment.assignment import Assignment, stub
from autograder.authoring.check import Problem, Progress, Sample, finding_of, samples, try_all
from autograder.authoring.packs import PatchedSolutions, patched_solutions, write_library
from autograder.authoring.trial import Trials, imports_of_trials
from autograder.errors import GradingError
from autograder.kernel.fork_server import KernelForkServer
from autograder.model import cells
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.draw import new_seed
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


_EVERY = 0.3


def watch(course: Course, assignment: str, exercise: str, say: Callable[[str], None]) -> None:
    """Draw an exercise and try its answers now, and again after each change of its files. Ends with Ctrl-C.

    Python runs warm; a change of the course's library is seen after a new start alone.
    """
    with closing(KernelForkServer(imports_of_trials(course.root))) as server:
        before: dict[Path, int] = {}
        while True:
            now = _times(course, assignment)
            if now != before:
                before, start = now, time.monotonic()
                for line in _tried(course, assignment, exercise, server.address):
                    say(line)
                say(
                    f"{time.strftime('%H:%M:%S')}, {time.monotonic() - start:.1f} s; it is tried again when it is saved"
                )
            time.sleep(_EVERY)


def _times(course: Course, assignment: str) -> dict[Path, int]:
    places = (course.root / loader.FOLDER / assignment).glob("*.py"), course.source(assignment).rglob("*")
    times: dict[Path, int] = {}
    for path in (path for found in places for path in found):
        with suppress(OSError):  # an editor saves by a file that is gone again
            times[path] = path.stat().st_mtime_ns
    return times


def _tried(course: Course, assignment: str, exercise: str, server: str) -> Iterator[str]:
    loader.forget()
    try:
        with Trials(Assignment.unreleased(course, assignment), server) as trials:
            references, run = References.of_course(course.root), PatchedSolutions(trials)
            seed = references.seed(assignment)
            references.build(assignment, new_seed() if seed is None else seed, only=[exercise], run=run)
            write_library(course, assignment, run, [exercise])
            yield from _answers(trials, exercise)
    except GradingError as error:
        yield f"  ✗ {error}"


def _answers(trials: Trials, exercise: str) -> Iterator[str]:
    chosen = samples(trials, exercise)
    tried = list(try_all(trials, chosen, lambda done, of: None))
    for what, right in (("right", True), ("wrong", False)):
        own = [one for one in tried if one.sample.right is right]
        good = sum(not one.problems for one in own)
        yield f"  {'✓' if good == len(own) else '✗'} {what}: {good} of {len(own)} answers get what they should"
    for one in tried:
        for problem in one.problems:
            yield f"    {one.sample.answer.name}: {problem.text}"
    yield _untouched(trials, exercise)


def _untouched(trials: Trials, exercise: str) -> str:
    """What students get for the cell, or file, as it is handed out."""
    opened = trials.assignment
    place = opened.references.exercise(f"{opened.name}/{exercise}").cell or f"{exercise}_answer"
    found = {cells.grade_id(cell): cell.source for notebook in opened.source.values() for cell in notebook.cells} | {
        name: data.decode() for name, data in opened.solutions.items()
    }
    text = stub(f"{place}.py", found.get(place, "").encode()).decode()
    verdict = trials.run({place: text}, only=[exercise]).verdicts.get(exercise)
    if verdict is None:
        raise GradingError(f"no graded cell {exercise!r} of {opened.name} builds on {place!r}")
    mark = "✗" if verdict.points else "✓"
    return f"  {mark} untouched: {verdict.points:g} of {verdict.max_points:g} points"

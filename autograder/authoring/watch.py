"""``autograder references --watch``: what an exercise's answers get, right, wrong and untouched, once it is saved."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.assignment.deliverables import stub
from autograder.authoring.check import try_all
from autograder.authoring.packs import write_library
from autograder.authoring.patched import PatchedSolutions
from autograder.authoring.sample_answers import samples
from autograder.authoring.trial import Trials, imports_of_trials
from autograder.errors import GradingError
from autograder.kernel.fork_server import KernelForkServer
from autograder.model import cells
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.draw import new_seed
from autograder.references.store import References

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

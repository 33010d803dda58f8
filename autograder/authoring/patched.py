"""Running the solution with the patches of its known mistakes, on the cases that ``autograder references`` draws."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import Trials, texts_of
from autograder.errors import GradingError
from autograder.exercise.model import Case, Exercise, Patch
from autograder.model.course import Course
from autograder.pipeline.fingerprint import digest
from autograder.references import loader
from autograder.references.patched import Ran, needs_runner
from autograder.references.store import References
from autograder.references.stored_files import inputs_among
from autograder.references.write import files_of


class PatchedSolutions:
    """Runs the real cells of an assignment, as :class:`Trials` does."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials

    def __call__(
        self, made: Exercise, cases: Sequence[Case], patches: Mapping[str, Sequence[Patch | str]]
    ) -> dict[str, Ran]:
        texts = {key: self._texts(made, key, changes) if changes else {} for key, changes in patches.items()}
        inputs = inputs_among(files_of(made, cases))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            tried = pool.map(lambda text: self._trials.handed_over(text, made.slug, inputs), texts.values())
            return {
                key: Ran([arrays.get(index, {}) for index in range(len(cases))], stopped)
                for key, (arrays, stopped) in zip(texts, tried, strict=True)
            }

    def digest(self, made: Exercise) -> str:
        texts = {key: self._texts(made, key, mistake.patches) for key, mistake in made.patched()}
        return digest(self._trials.sources(made.slug), texts)

    def _texts(self, made: Exercise, key: str, patches: Sequence[Patch | str]) -> dict[str, str]:
        answer = loader.sample(key, patches)
        cell = made.cell or f"{made.slug.partition('/')[2]}_answer"
        try:
            return texts_of(replace(answer, cell=cell), self._trials.solutions)
        except GradingError as error:
            raise GradingError(f"{made.slug}: {error}") from error


@contextmanager
def patched_solutions(course: Course, assignment: str) -> Iterator[PatchedSolutions | None]:
    """What runs the solutions of an assignment; None where its notebooks are still in the making, and need not run."""
    try:
        opened = Assignment.unreleased(course, assignment)
    except GradingError:
        if any(map(needs_runner, References.of_course(course.root).exercises(assignment).values())):
            raise
        yield None
        return
    with Trials(opened) as trials:
        yield PatchedSolutions(trials)


def stale_numbers(trials: Trials, slug: str) -> list[str]:
    """What is wrong where the stored numbers of mistakes were made of another solution, or of other patches."""
    references = trials.assignment.references
    made = references.exercises(trials.assignment.name).get(slug)
    try:
        stale = (
            made is not None
            and needs_runner(made)
            and PatchedSolutions(trials).digest(made) != references.patched(slug)
        )
    except GradingError:  # a patch that fits no longer: the sample answer says so
        stale = True
    return ["the numbers of its mistakes were made of another solution or of other patches"] if stale else []

"""Comparing what became of a sample answer with what its author says it deserves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.authoring.trial import Trials, Tried, texts_of
from autograder.exercise import SampleAnswer
from autograder.model.verdict import CellVerdict, same
from autograder.references import loader

#: A number in a message that could be an expected value: one with a point and at least four digits, leading zeros
#: not counted. Among hundreds of expected values, some agree with any shorter number by chance.
_NUMBER = re.compile(r"-?(?:0\.0*[1-9]\d{3,}|[1-9]\d{2,}\.\d+|[1-9]\d\.\d{2,}|[1-9]\.\d{3,})")


@dataclass(frozen=True)
class Sample:
    """A sample answer of an exercise (``<assignment>/<exercise>``)."""

    slug: str
    answer: SampleAnswer
    right: bool

    @property
    def exercise(self) -> str:
        return self.slug.partition("/")[2]

    def __str__(self) -> str:
        return f"{self.slug}: {'right' if self.right else 'wrong'}: {self.answer.name}"


def samples(trials: Trials, exercise: str = "") -> list[Sample]:
    """The sample answers of an assignment, or of one of its exercises."""
    folder, assignment = trials.assignment.references.folder, trials.assignment.name
    found = []
    for name in [exercise] if exercise else loader.names(folder, assignment):
        slug = f"{assignment}/{name}"
        right, wrong = loader.sample_answers(folder, slug)
        found += [Sample(slug, answer, True) for answer in right] + [Sample(slug, answer, False) for answer in wrong]
    return found


@dataclass(frozen=True)
class Problem:
    """Something that is not as the author of a sample answer says.

    points: True where somebody would get points that they should not, or lose some. False for the rest: a name, what a
    message says, whether the visible check sees it. drawn: the exercise on whose drawn cases it can depend.
    """

    text: str
    points: bool = False
    drawn: str = ""


def judged(trials: Trials, sample: Sample) -> tuple[list[Problem], Tried]:
    """What is not as the author says, and what became of the answer. No problem is there where all is well.

    Raises GradingError for an answer that cannot be tried. A right answer has full points and passes the visible
    checks, everywhere but in the cells that it costs (a bonus, say). A wrong one leaves the points it should, in its
    own cell and in those it also costs, is named, and costs no other cell anything.
    """
    answer = sample.answer
    texts = texts_of(answer, trials.solutions)
    in_file = bool(set(texts) & trials.assignment.deliverables)
    chosen = (sample.exercise, *answer.also_costs, *(() if sample.right else _wholes(trials, sample)))
    tried = trials.run(texts, only=chosen if in_file else ())
    if sample.exercise not in tried.verdicts:
        return [Problem(f"no graded cell {sample.exercise!r} builds on {', '.join(texts)}", points=True)], tried
    said = list(_right(answer, tried)) if sample.right else list(_wrong(trials, sample, tried))
    shown = [
        Problem(f"the message shows an expected value: {leak}", drawn=sample.exercise) for leak in leaked(trials, tried)
    ]
    return said + shown, tried


def _wholes(trials: Trials, sample: Sample) -> list[str]:
    """The exercises that have this one as a part: a mistake in it costs them nothing."""
    every = trials.assignment.references.exercises(trials.assignment.name)
    return [slug.partition("/")[2] for slug, whole in every.items() if sample.exercise in whole.parts]


def _right(answer: SampleAnswer, tried: Tried) -> Iterator[Problem]:
    for name, verdict in tried.verdicts.items():
        loses = name in answer.also_costs
        want = answer.also_costs.get(name, verdict.max_points)
        if loses == (verdict.status == "passed") or verdict.points is None or not same(verdict.points, want):
            text = f"{name}: {verdict.points:g} of {verdict.max_points:g} points: {_words(verdict)}"
            yield Problem(text, points=True, drawn=name)
    for name, message in tried.visible.items():
        if message and name not in answer.also_costs:
            yield Problem(f"{name}: the visible check refuses it: {message}")


def _wrong(trials: Trials, sample: Sample, tried: Tried) -> Iterator[Problem]:
    answer, own = sample.answer, tried.verdicts[sample.exercise]
    left = own.max_points if answer.points is None else answer.points
    left = left if answer.share is None else answer.share * own.max_points
    expected = {sample.exercise: left, **answer.also_costs}
    for name, verdict in tried.verdicts.items():
        want = expected.get(name, verdict.max_points)
        if verdict.points is None or not np.isclose(verdict.points, want):
            text = f"{name}: {verdict.points} points are left, {want:g} should be: {_words(verdict)}"
            yield Problem(text, points=True, drawn=name)
    lost = [verdict for verdict in tried.verdicts.values() if verdict.status != "passed"]
    if not lost:
        yield Problem("it is accepted", points=True, drawn=sample.exercise)
    named = {check.mistake for verdict in lost for check in verdict.checks if check.mistake}
    if answer.mistake and answer.mistake not in named:
        instead = ", ".join(sorted(named)) or "has no name"
        yield Problem(f"it is not called {answer.mistake}, but {instead}", drawn=sample.exercise)
    if not answer.mistake and named:
        yield Problem(f"it has a name: {', '.join(sorted(named))}", drawn=sample.exercise)
    catalogue = _catalogue(trials, sample, tried)
    if unknown := named - catalogue:
        yield Problem(f"{', '.join(sorted(unknown))} is in no catalogue (Exercise.mistakes)")
    seen = any(message for name, message in tried.visible.items() if name in {sample.exercise, *answer.also_costs})
    if seen == answer.passes_check:
        yield Problem("the visible check sees it: set passes_check=False" if seen else "the visible check accepts it")


def _catalogue(trials: Trials, sample: Sample, tried: Tried) -> set[str]:
    references, assignment = trials.assignment.references, trials.assignment.name
    known = references.exercises(assignment)
    slugs = [slug for slug in known if slug == sample.slug or slug.partition("/")[2] in tried.verdicts]
    return {mistake.id for slug in slugs for mistake in known[slug].mistakes}


def _words(verdict: CellVerdict) -> str:
    return "; ".join(check.message for check in verdict.checks if not check.passed) or verdict.status


def leaked(trials: Trials, tried: Tried) -> list[str]:
    """Messages of feedback that quote an expected value. Visible checks have other inputs: there it would be chance."""
    found = []
    for name, verdict in tried.verdicts.items():
        messages = [word for check in verdict.checks for word in (check.message, check.hint)]
        numbers = {number for message in messages for number in _NUMBER.findall(message)}
        if numbers:
            expected = _expected(trials, f"{trials.assignment.name}/{name}")
            found += [f"{name}: {number}" for number in sorted(numbers) if _among(number, expected)]
    return found


def _expected(trials: Trials, slug: str) -> Sequence[np.ndarray]:
    if slug not in trials.assignment.references.exercises(trials.assignment.name):
        return []
    cases = trials.assignment.references.cases(slug)
    return [array for case in cases for array in case.expected.values() if array.dtype.kind == "f"]


def _among(number: str, arrays: Sequence[np.ndarray]) -> bool:
    half = 0.5 * 10.0 ** -len(number.partition(".")[2])
    return any(bool((np.abs(array - float(number)) <= half).any()) for array in arrays)

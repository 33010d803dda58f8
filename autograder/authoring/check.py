"""Everything that an author must know of an assignment before students get it: its exercises, answer by answer."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from autograder.assignment.assignment import Assignment
from autograder.authoring.packs import PatchedSolutions, stale_numbers, stale_pack
from autograder.authoring.trial import Trials, Tried, texts_of
from autograder.errors import GradingError
from autograder.exercise import SampleAnswer
from autograder.exercise.asking import find
from autograder.exercise.own_code import Source
from autograder.exercise.questions import digest_of, questions, right_choice
from autograder.files.atomic import write_file
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.questions import AskedQuestions, asking
from autograder.model.verdict import CellVerdict, same
from autograder.pipeline.fingerprint import digest, machine_parts
from autograder.references import loader
from autograder.release.as_submitted import SOLUTION, without_markers
from autograder.release.findings import Accepted, Finding, pinned

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


#: Told how many answers are done, and of how many.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ExerciseCheck:
    """What the sample answers of one exercise showed.

    problems: where somebody would get points that they should not, or lose some; and what is missing.
    doubts: names, messages and visible checks that are not as the author says.
    accepted: those of both that are meant so, each with the reason.
    message: of the visible check, to the first mistake that has a name; empty where it sees none.
    """

    exercise: str
    right: int
    wrong: int
    problems: tuple[Finding, ...] = ()
    doubts: tuple[Finding, ...] = ()
    accepted: tuple[tuple[Finding, str], ...] = ()
    message: str = ""

    def accepting(self, accepted: Accepted) -> "ExerciseCheck":
        """The same, with what is accepted apart."""
        found = (*self.problems, *self.doubts)
        meant = tuple((one, reason) for one in found if (reason := accepted.reason(one)) is not None)
        left = (tuple(accepted.left(self.problems)), tuple(accepted.left(self.doubts)))
        return replace(self, problems=left[0], doubts=left[1], accepted=meant)


def own_answers(course: Course, name: str) -> dict[str, dict[str, str]]:
    """Notebook -> what its solution answers to the questions on its own code; empty where it cannot be asked."""
    found: dict[str, dict[str, str]] = {}
    for stem, notebook in Assignment.unreleased(course, name).source.items():
        for index, cell in enumerate(notebook.cells):
            if (asked := asking(cell)) is not None:
                code = [one for one in notebook.cells[:index] if one.cell_type == "code"]
                texts = [(without_markers(cells.split_hidden(one.source).visible), one) for one in code]
                found[stem] = _answers([(text, not cells.is_solution(one)) for text, one in texts], asked, course.root)
    return found


def _answers(sources: Sequence[Source], asked: AskedQuestions, root: Path) -> dict[str, str]:
    space: dict[str, Any] = {}
    sys.path.insert(0, str(root))  # a course of one's own has its checks there
    try:
        exec(asked.imported, space)  # the instructor's own line
        facts = space[asked.called.partition(".")[0]].questions.facts_of(sources, dict(asked.asked))
    finally:
        sys.path.remove(str(root))
    own = find(sources, facts.name) if facts is not None else None
    if facts is None or own is None or facts.watching:
        return {}
    answers = {one.kind: right_choice(one, own, facts) for one in questions(own, facts, SOLUTION)}
    return {"student": SOLUTION, "asked": digest_of(own, SOLUTION)} | answers


def check_exercises(
    assignment: Assignment,
    exercise: str = "",
    progress: Progress = lambda done, of: None,
) -> list[ExerciseCheck]:
    """Try every sample answer of an assignment, or of one of its exercises, in order of their names.

    Raises GradingError for an exercise that does not exist, or whose folder cannot be used.
    """
    folder = assignment.references.folder
    known = loader.names(folder, assignment.name)
    if exercise and exercise not in known:
        raise GradingError(f"{assignment.name} has no exercise {exercise!r}; known are {', '.join(known) or 'none'}")
    if not known:
        return []  # its tests are plain, or a person grades all of it
    assignment.references.exercises(assignment.name)
    with Trials(assignment) as trials:
        chosen, named = samples(trials, exercise), [exercise] if exercise else known
        found = list(try_all(trials, chosen, progress))
        stale = {name: _stale(trials, f"{assignment.name}/{name}") for name in named}
    return [_summary(name, found, assignment, stale[name]) for name in named]


def _stale(trials: Trials, slug: str) -> list[str]:
    """What 'autograder references' must write anew: numbers of patched mistakes, the pack of the visible check."""
    course = Course(trials.assignment.references.folder.parent)
    found = [*stale_numbers(trials, slug), *stale_pack(course, slug, PatchedSolutions(trials))]
    return [f"{what}: run 'autograder references {slug.partition('/')[0]}'" for what in found]


@dataclass(frozen=True)
class _Tried:
    """``message``: what the visible check said against the answer."""

    sample: Sample
    problems: Sequence[Problem]
    message: str = ""


def try_all(trials: Trials, chosen: list[Sample], progress: Progress) -> Iterator[_Tried]:
    """Each sample answer, in order."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for number, one in enumerate(pool.map(lambda sample: _tried(trials, sample), chosen), 1):
            progress(number, len(chosen))
            yield one


def _tried(trials: Trials, sample: Sample) -> _Tried:
    try:
        problems, tried = judged(trials, sample)
    except GradingError as error:
        return _Tried(sample, [Problem(str(error), points=True)])
    return _Tried(sample, problems, tried.visible.get(sample.exercise, ""))


def _summary(name: str, found: list[_Tried], assignment: Assignment, stale: list[str]) -> ExerciseCheck:
    own = [one for one in found if one.sample.exercise == name]
    right, slug = sum(one.sample.right for one in own), f"{assignment.name}/{name}"
    said = [*(Finding("stale", slug, one) for one in stale), *_said(own, points=True)]
    folder = assignment.references.folder
    path = loader.file_of(folder, slug).relative_to(folder.parent)
    if not right or right == len(own):
        lacking = f"{path} must hold at least one right and one wrong answer: nothing else tests the exercise"
        said.append(pinned("answers", slug, lacking, slug))
    if name not in _graded(assignment):
        said.append(Finding("answers", slug, f"no notebook of {assignment.name} has a graded cell {name!r}"))
    messages = (one.message for one in own if one.message and one.sample.answer.mistake)
    doubts = tuple(_said(own, points=False))
    return ExerciseCheck(name, right, len(own) - right, tuple(said), doubts, message=next(messages, ""))


def _said(found: list[_Tried], points: bool) -> list[Finding]:
    return [finding_of(one.sample, problem) for one in found for problem in one.problems if problem.points == points]


def finding_of(sample: Sample, problem: Problem) -> Finding:
    title = f"{'right' if sample.right else 'wrong'} answer {sample.answer.name!r}"
    return pinned("answer", sample.slug, f"{title}: {problem.text}", repr(sample.answer), problem.text)


def _graded(assignment: Assignment) -> set[str | None]:
    return {cells.grade_id(cell) for notebook in assignment.source.values() for cell in notebook.cells}


def state(course: Course, assignment: Assignment) -> str:
    """Digest of all that the sample answers' results depend on: exercises, notebooks, files, grader and library."""
    folder = assignment.references.folder
    paths = [*folder.glob("_*.py"), *(folder / assignment.name).rglob("*"), *course.source(assignment.name).rglob("*")]
    files = {
        str(path.relative_to(course.root)): path.read_bytes().hex()
        for path in sorted(paths)
        if path.is_file() and _counts(path)
    }
    return digest(files, Accepted.of_course(course.root).reasons, machine_parts(course))


def _counts(path: Path) -> bool:
    return "__pycache__" not in path.parts and not any(part.startswith(".") for part in path.parts[-2:])


def was_checked(course: Course, assignment: Assignment) -> bool:
    """True where all sample answers were right in this very state."""
    return _noted(course, assignment) is not None


def messages_to_mistakes(course: Course, assignment: Assignment) -> Mapping[str, str]:
    """Exercise -> what its visible check says to a mistake; empty where nothing was checked in this very state."""
    return _noted(course, assignment) or {}


def remember(course: Course, assignment: Assignment, found: Sequence[ExerciseCheck] = ()) -> None:
    """Note that all sample answers are right as things stand, and what visible checks said to mistakes."""
    messages = {one.exercise: one.message for one in found if one.message}
    content = {"state": state(course, assignment), "messages": messages}
    write_file(_record(course, assignment.name), json.dumps(content, ensure_ascii=False).encode())


def _noted(course: Course, assignment: Assignment) -> Mapping[str, str] | None:
    try:
        data = json.loads(_record(course, assignment.name).read_text(encoding="utf-8"))
        return dict(data["messages"]) if data["state"] == state(course, assignment) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _record(course: Course, assignment: str) -> Path:
    path: Path = course.root / ".autograder" / "checked" / assignment
    return path

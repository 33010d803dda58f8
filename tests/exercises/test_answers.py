"""Every right and wrong answer of every exercise, run in the real cells and judged by the real judge."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from functools import lru_cache

import pytest
from _pytest.mark import ParameterSet

from autograder.authoring.forks import WarmServer
from autograder.authoring.sample_answers import Sample, problems
from autograder.authoring.trial import Trials, Tried
from autograder.model.assignment import Assignment
from autograder.model.course import Course
from autograder.references import loader
from tests.grading import REFERENCES, ROOT

pytestmark = pytest.mark.slow

ASSIGNMENTS = Course(ROOT).assignments()
SLUGS = [f"{assignment}/{name}" for assignment in ASSIGNMENTS for name in loader.names(REFERENCES.folder, assignment)]

#: Assignments whose visible checks never crash: whatever a student's code does, they fail in words of their own.
NEVER_CRASH = {"distilbert"}


class RecordedTrials(Trials):
    """Keeps what became of the last answer."""

    last: Tried

    def run(self, texts: Mapping[str, str], only: Iterable[str] = ()) -> Tried:
        self.last = super().run(texts, only)
        return self.last


def everything() -> list[Sample]:
    found = []
    for slug in SLUGS:
        right, wrong = loader.sample_answers(REFERENCES.folder, slug)
        found += [Sample(slug, answer, True) for answer in right] + [Sample(slug, answer, False) for answer in wrong]
    return found


@lru_cache
def until_exit() -> ExitStack:
    stack = ExitStack()
    atexit.register(stack.close)
    return stack


@lru_cache
def server() -> WarmServer:
    """One warm process for all tests of this process."""
    return until_exit().enter_context(WarmServer(Course(ROOT).file.warm))


@lru_cache
def trials(assignment: str) -> RecordedTrials:
    opened = RecordedTrials(Assignment.unreleased(Course(ROOT), assignment), server())
    until_exit().enter_context(opened)
    return opened


def one_worker(assignment: str) -> pytest.MarkDecorator:
    """All that tries answers to an assignment goes to one test worker: the cells before an answer run there once."""
    return pytest.mark.xdist_group(f"answers to {assignment}")


def by_assignment(samples: list[Sample]) -> list[ParameterSet]:
    return [pytest.param(one, id=str(one), marks=one_worker(one.slug.partition("/")[0])) for one in samples]


@pytest.mark.parametrize("sample", by_assignment(everything()))
def test_an_answer_gets_the_points_and_the_name_that_its_author_wrote_down(sample: Sample) -> None:
    assignment = sample.slug.partition("/")[0]
    assert problems(trials(assignment), sample) == []
    said = trials(assignment).last.visible[sample.exercise]
    assert assignment not in NEVER_CRASH or not said or said.startswith("CheckFailed: ")


@pytest.mark.parametrize("slug", SLUGS)
def test_every_exercise_is_tried_with_right_and_wrong_answers(slug: str) -> None:
    right, wrong = loader.sample_answers(REFERENCES.folder, slug)
    names = [answer.name for answer in (*right, *wrong)]
    assert len(right) >= 3 and len(wrong) >= 3
    assert len(set(names)) == len(names)

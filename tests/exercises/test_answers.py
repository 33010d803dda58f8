"""Right and wrong answers of every exercise, run in the real cells and judged by the real judge.

All are tried by ``python -m tests.contract``; here those that something has changed for, and one in eight.
"""

import atexit
from contextlib import ExitStack, closing
from functools import lru_cache

import pytest
from _pytest.mark import ParameterSet

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import Sample, judged
from autograder.authoring.trial import Trials, imports_of_trials
from autograder.kernel.fork_server import KernelForkServer
from autograder.model.course import Course
from autograder.references import loader
from tests.contract import recorded
from tests.grading import REFERENCES, ROOT

pytestmark = pytest.mark.slow

ASSIGNMENTS = Course(ROOT).assignments()
SLUGS = [f"{assignment}/{name}" for assignment in ASSIGNMENTS for name in loader.names(REFERENCES.folder, assignment)]

#: Assignments whose visible checks never crash: whatever a student's code does, they fail in words of their own.
NEVER_CRASH = {"distilbert"}


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
def fork_server() -> str:
    """One for all tests of this process."""
    return until_exit().enter_context(closing(KernelForkServer(imports_of_trials(ROOT)))).address


@lru_cache
def trials(assignment: str) -> Trials:
    opened = Trials(Assignment.unreleased(Course(ROOT), assignment), fork_server())
    until_exit().enter_context(opened)
    return opened


def one_worker(assignment: str) -> pytest.MarkDecorator:
    """All that tries answers to an assignment goes to one test worker, which reads its notebooks once."""
    return pytest.mark.xdist_group(f"answers to {assignment}")


def by_assignment(samples: list[Sample]) -> list[ParameterSet]:
    return [pytest.param(one, id=str(one), marks=one_worker(one.slug.partition("/")[0])) for one in samples]


@pytest.mark.parametrize("sample", by_assignment(recorded.to_try(everything())))
def test_an_answer_gets_the_points_and_the_name_that_its_author_wrote_down(sample: Sample) -> None:
    assignment = sample.slug.partition("/")[0]
    found, tried = judged(trials(assignment), sample)
    assert found == []
    said = tried.visible[sample.exercise]
    assert assignment not in NEVER_CRASH or not said or said.startswith("CheckFailed: ")
    changed = list(recorded.differences(recorded.stored(sample), recorded.row(sample, tried)))
    again = f"run 'python -m tests.contract {sample.slug}' and look at the diff"
    assert changed == [], f"{sample} is told something else now: {again}"


@pytest.mark.parametrize("slug", SLUGS)
def test_every_exercise_is_tried_with_right_and_wrong_answers(slug: str) -> None:
    right, wrong = loader.sample_answers(REFERENCES.folder, slug)
    names = [answer.name for answer in (*right, *wrong)]
    assert len(right) >= 3 and len(wrong) >= 3
    assert len(set(names)) == len(names)

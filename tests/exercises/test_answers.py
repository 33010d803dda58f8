"""Every right and wrong answer of every exercise, run in the real cells and judged by the real judge."""

from __future__ import annotations

import atexit
from functools import lru_cache

import pytest

from autograder.authoring.sample_answers import Sample, problems
from autograder.authoring.trial import Trials
from autograder.model.assignment import Assignment
from autograder.model.course import Course
from autograder.references import loader
from tests.grading import REFERENCES, ROOT

pytestmark = pytest.mark.slow

ASSIGNMENTS = Course(ROOT).assignments()
SLUGS = [f"{assignment}/{name}" for assignment in ASSIGNMENTS for name in loader.names(REFERENCES.folder, assignment)]


def everything() -> list[Sample]:
    found = []
    for slug in SLUGS:
        right, wrong = loader.sample_answers(REFERENCES.folder, slug)
        found += [Sample(slug, answer, True) for answer in right] + [Sample(slug, answer, False) for answer in wrong]
    return found


@lru_cache
def trials(assignment: str) -> Trials:
    """One warm process for each assignment, for all tests of this process."""
    opened = Trials(Assignment.unreleased(Course(ROOT), assignment))
    atexit.register(opened.__exit__, None, None, None)
    return opened


@pytest.mark.parametrize("sample", everything(), ids=str)
def test_an_answer_gets_the_points_and_the_name_that_its_author_wrote_down(sample: Sample) -> None:
    assert problems(trials(sample.slug.partition("/")[0]), sample) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_every_exercise_is_tried_with_right_and_wrong_answers(slug: str) -> None:
    right, wrong = loader.sample_answers(REFERENCES.folder, slug)
    names = [answer.name for answer in (*right, *wrong)]
    assert len(right) >= 3 and len(wrong) >= 3
    assert len(set(names)) == len(names)

"""Sample answers of the course's exercises, for tests that need one of them."""

from functools import lru_cache

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import solutions, texts_of
from autograder.exercise import SampleAnswer
from autograder.model.course import Course
from autograder.references import loader
from tests.grading import REFERENCES, ROOT


def answer(slug: str, name: str) -> SampleAnswer:
    """The right or wrong answer of an exercise with this name."""
    return next(one for side in loader.sample_answers(REFERENCES.folder, slug) for one in side if one.name == name)


def text_of(slug: str, name: str) -> str:
    """What that answer puts into its own cell or file."""
    found = answer(slug, name)
    return texts_of(found, _solutions(slug.partition("/")[0]))[found.cell]


@lru_cache
def _solutions(assignment: str) -> dict[str, str]:
    return solutions(Assignment.unreleased(Course(ROOT), assignment))

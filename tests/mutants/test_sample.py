"""A fixed sample of the course's own mutants: no survivor. ``make mutants`` tries all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.model.course import Course
from autograder.mutants.rows import survey

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


def test_no_mutant_of_the_sample_survives():
    course = Course(ROOT)
    assignment = Assignment.unreleased(course, "numpy_attention")
    found = survey(course, assignment, "", 12, 0, 1, lambda done, of: None)
    assert len(found.outcomes) == 12
    assert [f"{mutant.description}: {outcome.said}" for mutant, outcome in found.survivors] == []

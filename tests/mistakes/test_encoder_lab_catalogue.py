"""The encoder lab's catalogue of mistakes: each is called by its own name on the stored cases, and by no other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from autograder.exercise.compare import compare_case
from autograder.exercise.model import Answers, Case, Judgement
from tests.grading import REFERENCES

SLUGS = [slug for slug, exercise in REFERENCES.exercises("encoder_lab").items() if exercise.mistakes]


def judged(slug: str, case: Case, wrong: Mapping[str, np.ndarray]) -> Judgement:
    """What the judge says where everything is right but ``wrong``; with stand-ins where the exercise has them."""
    own = {name for name in case.expected if name.startswith("own/")}
    arrays = {name.replace("stand_in/", "stand_in_0/"): want for name, want in case.expected.items() if name not in own}
    for name, array in wrong.items():
        arrays[f"stand_in_0/{name}" if f"stand_in/{name}" in case.expected else name] = array
    exercise = REFERENCES.exercise(slug)
    return (exercise.rule or compare_case)(exercise, case, Answers(arrays))


@pytest.mark.parametrize("slug", SLUGS)
def test_every_known_mistake_is_called_by_its_own_name(slug: str) -> None:
    named = set()
    for mistake in REFERENCES.exercise(slug).mistakes:
        for case in REFERENCES.cases(slug):
            wrong = {name: np.asarray(array) for name, array in mistake.answers(case).items() if "/" not in name}
            if mistake.id == "M1-exp" and not np.isfinite(wrong["weights"]).all():
                continue  # where the scores are large it is called an overflow
            called = {check.mistake or check.name for check in judged(slug, case, wrong).checks if not check.passed}
            assert called <= {mistake.id}, f"{mistake.id} is called {called}"
            if called:
                named.add(mistake.id)
    assert named == {mistake.id for mistake in REFERENCES.exercise(slug).mistakes}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_mistake_says_what_is_wrong_and_where_to_look(slug: str) -> None:
    for mistake in REFERENCES.exercise(slug).mistakes:
        assert mistake.message.endswith(".") and mistake.hint, mistake.id

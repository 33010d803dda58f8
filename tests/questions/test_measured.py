"""Over every right answer of the main line: keys are right, forms say nothing, and copied answers are guesses."""

from collections import defaultdict
from functools import cache
from itertools import permutations

import pytest
import torch

from autograder.exercise.questions import same, share
from tests.questions.__main__ import MAX_DEVIATIONS, every_style, wrong_keys
from tests.questions.measured import Asked, by_guessing, guessed, students

pytestmark = pytest.mark.slow


@cache
def found() -> list[Asked]:
    return every_style()


def test_of_at_least_two_hundred_styles_a_hundred_get_a_question() -> None:
    asked = [one for one in found() if any(one.right(question) for question in one.questions(students(1)[0]))]
    assert len(found()) >= 200 and len(asked) >= 100
    assert {one.facts.watching for one in found() if one.facts is not None} == {"", "string"}  # by its Formatter


def test_no_key_is_wrong_when_the_plain_text_is_run() -> None:
    with torch.enable_grad():  # code that is stopped within its no_grad does not turn gradients on again
        assert not [f"{one.style}: {said}" for one in found() for said in wrong_keys(one, 1)]


def test_exactly_one_choice_is_right_or_the_question_does_not_count() -> None:
    for one in found():
        for question in one.questions(students(1)[0]):
            assert len(set(question.choices)) == len(question.choices) >= 3
            assert not one.right(question) or question.choices.count(one.right(question)) == 1


def test_no_form_of_a_choice_tells_the_right_one() -> None:
    told = guessed(found(), 20)
    assert {kind for kind, _ in told} == {"shape", "without", "becomes", "passes", "shape_2"}
    assert not {key: guesses for key, guesses in told.items() if guesses.deviations > MAX_DEVIATIONS}


def test_copied_answers_earn_no_more_than_guessed_ones() -> None:
    """Everybody writes everybody else's choices below the same id, to the same exercise."""
    groups: dict[str, list[Asked]] = defaultdict(list)
    for one in found():
        groups[one.style.slug].append(one)
    copied, chance, pairs = 0.0, 0.0, 0
    for group in groups.values():
        for one, other in permutations(group, 2):
            mine = [(question, right) for question in one.questions("ada") if (right := one.right(question))]
            theirs = {question.kind: other.right(question) for question in other.questions("ada")}
            if len(mine) == 3:
                hits = sum(same(theirs.get(question.kind, ""), right) for question, right in mine)
                copied, pairs = copied + share(hits, 3), pairs + 1
                chance += by_guessing([question for question, _ in mine])
    assert pairs > 100
    assert copied / pairs < chance / pairs + 0.05

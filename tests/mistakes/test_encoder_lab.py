"""Every graded exercise of the encoder lab: wrong answers are rejected by name, right ones in any style accepted."""

from __future__ import annotations

from collections import Counter

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.preprocessors import ClearSolutions

from autograder.model import cells
from autograder.model.assignment import SOLUTIONS
from tests.grading import REFERENCES, ROOT
from tests.mistakes import (
    encoder_lab_cells,
    encoder_lab_classes,
    encoder_lab_right_cells,
    encoder_lab_right_classes,
    encoder_lab_right_stacks,
    encoder_lab_stacks,
)
from tests.mistakes.encoder_lab_answer import Answer, solution_file, stub_file, stub_of, verdict, verdict_on

WRONG = [*encoder_lab_cells.WRONG, *encoder_lab_classes.WRONG, *encoder_lab_stacks.WRONG]
RIGHT = [*encoder_lab_right_cells.RIGHT, *encoder_lab_right_classes.RIGHT, *encoder_lab_right_stacks.RIGHT]
GRADED = [
    cells.grade_id(cell)
    for path in sorted((ROOT / "source" / "encoder_lab").glob("*.ipynb"))
    for cell in nbformat.read(path, as_version=4).cells
    if cells.is_autograded(cell)
]


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_a_wrong_answer_is_rejected_by_its_name(answer: Answer) -> None:
    found = verdict_on(answer)
    assert found.points == answer.points < found.max_points, found.checks
    named = {check.mistake for check in found.checks if check.mistake}
    assert not answer.mistake or answer.mistake in named, found.checks


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_a_right_answer_in_another_style_has_full_points(answer: Answer) -> None:
    found = verdict_on(answer)
    assert found.points == found.max_points, found.checks


@pytest.mark.parametrize("exercise", GRADED)
def test_the_solution_has_full_points_and_the_stub_none(exercise: str) -> None:
    solved = verdict(exercise, {}, solution_file())
    assert solved.points == solved.max_points, solved.checks
    untouched = verdict(exercise, stub_of(exercise), stub_file())
    assert untouched.points == 0


def test_the_released_file_is_the_solution_with_its_solutions_cleared() -> None:
    cell = new_code_cell((SOLUTIONS / "encoder_lab" / "models.py").read_text(encoding="utf-8"))
    ClearSolutions()._replace_solution_region(cell, "python")
    assert cell.source == stub_file()


def test_a_mistake_in_the_scores_is_paid_for_once() -> None:
    unscaled = "def attention_scores(query, key):\n    return query @ key.mT\n"
    steps = "def scaled_dot_product_attention(query, key, value):\n"
    steps += "    return attention_weights(attention_scores(query, key)) @ value\n"
    answers = {"attention_scores_answer": unscaled, "scaled_dot_product_attention_answer": steps}
    assert verdict("attention_scores", answers, solution_file()).points == 0
    assert verdict("scaled_dot_product_attention", answers, solution_file()).points == 2


def test_a_mistake_in_the_shares_is_paid_for_once() -> None:
    share = 'def separator_share(attention, tokens):\n    return attention[:, :, tokens.index("[SEP]")].mean(-1)\n'
    answers = {"separator_share_answer": share}
    assert verdict("separator_share", answers, solution_file()).points == 0
    assert verdict("separator_heads", answers, solution_file()).points == 1


def test_every_exercise_is_tried_with_six_wrong_answers_and_four_right_ones() -> None:
    wrong, right = Counter(answer.exercise for answer in WRONG), Counter(answer.exercise for answer in RIGHT)
    assert {name for name in GRADED if wrong[name] < 6} == set()
    assert {name for name in GRADED if right[name] < 4} == set()


def test_the_points_are_fifty() -> None:
    notebooks = (ROOT / "source" / "encoder_lab").glob("*.ipynb")
    assert sum(cells.max_points(cell) for path in notebooks for cell in nbformat.read(path, as_version=4).cells) == 50


def test_each_stored_exercise_belongs_to_a_graded_cell() -> None:
    assert {f"encoder_lab/{name}" for name in GRADED} == set(REFERENCES.exercises("encoder_lab"))

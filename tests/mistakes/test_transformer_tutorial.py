"""Wrong and right student code in the real notebooks of the tutorial.

Every answer is judged with all other cells solved: so each test also says that a mistake costs its own points only.
"""

from __future__ import annotations

import importlib
from collections import Counter

import numpy as np
import pytest
import torch

from autograder.model import cells
from autograder.model.verdict import NotebookVerdict
from autograder.references import loader
from tests.grading import REFERENCES, grade_cells, mistakes_of
from tests.mistakes import (
    transformer_tutorial_right_attention,
    transformer_tutorial_right_block,
    transformer_tutorial_right_classifier,
    transformer_tutorial_wrong_attention,
    transformer_tutorial_wrong_block,
    transformer_tutorial_wrong_classifier,
)
from tests.mistakes.transformer_tutorial_answer import (
    ATTENTION,
    BIAS,
    BLOCK,
    SHEET,
    TRAINING,
    Answer,
    source_notebook,
    verdict_on,
)

WRONG = [
    *transformer_tutorial_wrong_attention.WRONG,
    *transformer_tutorial_wrong_block.WRONG,
    *transformer_tutorial_wrong_classifier.WRONG,
]
RIGHT = [
    *transformer_tutorial_right_attention.RIGHT,
    *transformer_tutorial_right_block.RIGHT,
    *transformer_tutorial_right_classifier.RIGHT,
]
AS_PUBLISHED = transformer_tutorial_right_classifier.AS_PUBLISHED
NOTEBOOKS = (ATTENTION, BLOCK, TRAINING, BIAS)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def points(verdict: NotebookVerdict) -> dict[str, float | None]:
    return {cell.cell: cell.points for cell in verdict.cells if cell.status != "manual"}


def full(notebook: str) -> dict[str, float]:
    judged = [cell for cell in source_notebook(notebook).cells if cells.is_autograded(cell)]
    return {cell.metadata.nbgrader["grade_id"]: float(cell.metadata.nbgrader["points"]) for cell in judged}


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_a_wrong_answer_costs_its_own_points_and_is_named(answer: Answer) -> None:
    verdict = verdict_on(answer)
    assert points(verdict) == pytest.approx(full(answer.notebook) | answer.points)
    if answer.mistake:
        assert answer.mistake in mistakes_of(verdict)
    else:
        assert not mistakes_of(verdict)


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_a_right_answer_in_another_style_has_full_points(answer: Answer) -> None:
    assert points(verdict_on(answer)) == full(answer.notebook)


def test_the_model_as_the_sheet_was_published_loses_the_point_for_padding_alone() -> None:
    verdict = verdict_on(AS_PUBLISHED)
    assert points(verdict) == full(TRAINING) | {"classifier_padding": 0}
    assert mistakes_of(verdict) == {"M15-padding", "M10-unsaid"}


def test_every_graded_exercise_has_six_wrong_and_four_right_answers() -> None:
    wrong = Counter(exercise for answer in WRONG for exercise in answer.points)
    exercises = {exercise: notebook for notebook in NOTEBOOKS for exercise in full(notebook)}
    assert {exercise for exercise in exercises if wrong[exercise] < 6} == set()
    right = Counter(answer.cell for answer in RIGHT)
    answer_cells = {
        cell.metadata.nbgrader["grade_id"]
        for notebook in NOTEBOOKS
        for cell in source_notebook(notebook).cells
        if cells.is_solution(cell) and cell.cell_type == "code"
    }
    assert {cell for cell in answer_cells if right[cell] < 4} == set()


def test_the_points_are_forty_twelve_of_them_given_by_hand() -> None:
    automatic = sum(sum(full(notebook).values()) for notebook in NOTEBOOKS)
    every = [cell for notebook in NOTEBOOKS for cell in source_notebook(notebook).cells if cells.is_graded(cell)]
    assert (automatic, sum(cells.max_points(cell) for cell in every)) == (28, 40)


# --- through the real stations ----------------------------------------------------------------------------------------

SUBMISSIONS = [
    (ATTENTION, ["softmax over the queries", "with bias", "all wrong"]),
    (ATTENTION, ["masks in the wrong order", "heads before tokens", "two wrong"]),
    (BLOCK, ["pre-norm", "the square of p", "rows to sentences, as in tutorials with the tokens first", "the sum"]),
    (BLOCK, ["second skip from the block's input", "dot products for free", "learned", "padding averaged in"]),
    (TRAINING, ["blocks not told"]),
    (TRAINING, ["a plain list"]),
    (BIAS, ["among the given words"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("notebook", "names"), SUBMISSIONS, ids=[" and ".join(names) for _, names in SUBMISSIONS])
def test_the_stations_give_the_same_points(notebook: str, names: list[str]) -> None:
    chosen = [answer for answer in WRONG if answer.notebook == notebook and answer.name in names]
    assert len(chosen) == len(names)
    verdict = grade_cells(SHEET, notebook, {answer.cell: answer.source() for answer in chosen})
    left = full(notebook)
    for answer in chosen:
        left |= answer.points
    assert points(verdict) == pytest.approx(left)
    assert {answer.mistake for answer in chosen if answer.mistake} <= mistakes_of(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_right_answers_in_another_style_pass_the_stations(notebook: str) -> None:
    by_cell = {answer.cell: answer.source() for answer in RIGHT if answer.notebook == notebook}
    assert points(grade_cells(SHEET, notebook, by_cell)) == full(notebook)


@pytest.mark.slow
def test_grading_the_training_notebook_takes_seconds_not_a_minute() -> None:
    verdict = grade_cells(SHEET, TRAINING, {})
    assert (points(verdict), verdict.seconds < 20) == (full(TRAINING), True)


# --- the oracle -------------------------------------------------------------------------------------------------------


def test_the_default_variant_is_torchs_own_attention() -> None:
    exercises = f"{loader.package(REFERENCES.folder)}.{SHEET}"
    oracle = importlib.import_module(f"{exercises}._attention_cases").torch_attention
    dot_products = importlib.import_module(f"{exercises}._dot_products")
    attention, variant = dot_products.attention, dot_products.AttentionVariant()
    generator = np.random.default_rng(0)
    queries, keys, values = generator.normal(0, 1, (3, 2, 5, 3, 4))
    mask = np.array([[True] * 5, [True, True, False, False, False]])
    assert np.allclose(attention(queries, keys, values), oracle(queries, keys, values))
    assert np.allclose(attention(queries, keys, values, variant, mask), oracle(queries, keys, values, mask))


def test_the_stored_references_are_those_that_the_oracle_makes(tmp_path: object) -> None:
    from pathlib import Path

    made = REFERENCES.build(SHEET, REFERENCES.seed(SHEET), Path(str(tmp_path)))
    for path in sorted(made.rglob("*.safetensors")):
        assert path.read_bytes() == (REFERENCES.folder / SHEET / path.relative_to(made)).read_bytes(), path.name

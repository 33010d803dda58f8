"""The transformer tutorial: several mistakes at once, the real stages, its points, and its attention in NumPy."""

from collections.abc import Sequence

import numpy as np
import pytest

from autograder.exercise import Case
from autograder.model import cells
from autograder.model.verdict import NotebookVerdict
from autograder.references import loader
from autograder.references.draw import draw
from tests.exercises.answers import answer, text_of
from tests.exercises.test_answers import one_worker, trials
from tests.grading import REFERENCES, assignment, grade_cells, mistakes_of, solution

ASSIGNMENT = "transformer_tutorial"
pytestmark = one_worker(ASSIGNMENT)
ATTENTION, BLOCK, TRAINING, BIAS = NOTEBOOKS = ("1_queries_keys_values", "2_transformer_block", "3_training", "4_bias")


def points(verdict: NotebookVerdict) -> dict[str, float | None]:
    return {cell.cell: cell.points for cell in verdict.cells if cell.status != "manual"}


def full(notebook: str) -> dict[str, float]:
    """Autograded cell -> its points."""
    graded = [cell for cell in assignment(ASSIGNMENT).source[notebook].cells if cells.is_autograded(cell)]
    return {str(cells.grade_id(cell)): cells.max_points(cell) for cell in graded}


def cell_of(exercise: str) -> str:
    """The solution cell that the answers to an exercise fill."""
    right, _ = loader.sample_answers(REFERENCES.folder, f"{ASSIGNMENT}/{exercise}")
    return right[0].cell


def left(notebook: str, chosen: list[tuple[str, str]]) -> dict[str, float]:
    """What these wrong answers leave of their own exercises' points."""
    found = {exercise: answer(f"{ASSIGNMENT}/{exercise}", name) for exercise, name in chosen}
    every = full(notebook)
    return {name: one.points if one.share is None else one.share * every[name] for name, one in found.items()}


# --- several mistakes in one cell -------------------------------------------------------------------------------------


def with_changes(notebook: str, *chosen: tuple[str, str]) -> dict[str, str]:
    """The solution of one cell with the changes of several wrong answers, (exercise, name) each."""
    cell = cell_of(chosen[0][0])
    text = solution(ASSIGNMENT, notebook, cell)
    for exercise, name in chosen:
        for old, new in answer(f"{ASSIGNMENT}/{exercise}", name).changes:
            assert old in text
            text = text.replace(old, new)
    return {cell: text}


TOGETHER = [
    (ATTENTION, [("attention_scores", "M3"), ("attention_output", "M1")]),
    (ATTENTION, [("attention_scores", "M2"), ("attention_heads", "M6")]),
    (ATTENTION, [("attention_scores", "M3-up"), ("attention_mask", "M10-tiled")]),
    (ATTENTION, [("attention_output", "M4-transposed"), ("attention_dropout", "DROPOUT-none")]),
    (ATTENTION, [("self_attention_maps", "MAP-bias"), ("self_attention_forward", "SPLIT-turned")]),
    (BLOCK, [("block_attention", "M8-none"), ("block_feed_forward", "M7-ffn")]),
    (BLOCK, [("positional_values", "PE-base"), ("positional_forward", "M11-times")]),
    (TRAINING, [("classifier_forward", "M11-none"), ("classifier_padding", "M10-unsaid")]),
    (TRAINING, [("classifier_parts", "PART-head"), ("classifier_forward", "M15-softmax")]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("notebook", "chosen"), TOGETHER, ids=[" and ".join(name for _, name in chosen) for _, chosen in TOGETHER]
)
def test_mistakes_in_one_cell_cost_their_own_points_alone_and_are_all_named(
    notebook: str, chosen: list[tuple[str, str]]
) -> None:
    verdicts = trials(ASSIGNMENT).run(with_changes(notebook, *chosen)).verdicts
    wanted = full(notebook) | left(notebook, chosen)
    assert {name: verdict.points for name, verdict in verdicts.items()} == {name: wanted[name] for name in verdicts}
    named = {check.mistake for verdict in verdicts.values() for check in verdict.checks if check.mistake}
    assert {answer(f"{ASSIGNMENT}/{exercise}", name).mistake for exercise, name in chosen} <= named


@pytest.mark.slow
def test_what_the_published_model_does_not_do_about_padding_is_said_twice() -> None:
    text = text_of(f"{ASSIGNMENT}/classifier_padding", "nobody told")
    verdicts = trials(ASSIGNMENT).run({cell_of("classifier_padding"): text}).verdicts
    said = {check.mistake for check in verdicts["classifier_padding"].checks if not check.passed}
    assert said == {"M15-padding", "M10-unsaid"}


# --- points -----------------------------------------------------------------------------------------------------------


def test_the_points_are_forty_twelve_of_them_given_by_hand() -> None:
    automatic = sum(sum(full(notebook).values()) for notebook in NOTEBOOKS)
    source = assignment(ASSIGNMENT).source
    every = [cell for notebook in NOTEBOOKS for cell in source[notebook].cells if cells.is_graded(cell)]
    assert (automatic, sum(cells.max_points(cell) for cell in every)) == (28, 40)


def test_every_exercise_has_a_graded_cell() -> None:
    assert {name for notebook in NOTEBOOKS for name in full(notebook)} == set(
        loader.names(REFERENCES.folder, ASSIGNMENT)
    )


# --- the real stages --------------------------------------------------------------------------------------------------

#: Notebook -> wrong answers in different cells of it, (exercise, name) each.
SUBMISSIONS = [
    (ATTENTION, [("attention_output", "M1"), ("self_attention_maps", "MAP-bias"),
                 ("bank_reading", "the query in the context")]),
    (ATTENTION, [("attention_mask", "M10-tiled"), ("self_attention_forward", "SPLIT-turned"),
                 ("bank_reading", "bank-inverse")]),
    (BLOCK, [("block_attention", "M8-pre"), ("attention_cost", "the square of p"), ("mean_pooling", "M15-sum"),
             ("positional_forward", "M11-batch")]),
    (BLOCK, [("block_feed_forward", "M7-place"), ("positional_values", "PE-learned"),
             ("attention_cost", "dot products for free"), ("mean_pooling", "M15-padding")]),
    (TRAINING, [("classifier_padding", "M10-unsaid")]),
    (TRAINING, [("classifier_parts", "M14-list")]),
    (BIAS, [("masked_word_probability", "P-words")]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("notebook", "chosen"), SUBMISSIONS, ids=[" and ".join(name for _, name in chosen) for _, chosen in SUBMISSIONS]
)
def test_the_stages_give_the_same_points(notebook: str, chosen: list[tuple[str, str]]) -> None:
    made = {exercise: answer(f"{ASSIGNMENT}/{exercise}", name) for exercise, name in chosen}
    texts = {one.cell: text_of(f"{ASSIGNMENT}/{exercise}", one.name) for exercise, one in made.items()}
    verdict = grade_cells(ASSIGNMENT, notebook, texts)
    assert points(verdict) == pytest.approx(full(notebook) | left(notebook, chosen))
    assert {one.mistake for one in made.values() if one.mistake} <= mistakes_of(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_right_answers_in_another_style_pass_the_stages(notebook: str) -> None:
    texts = {}
    for exercise in full(notebook):
        right, _ = loader.sample_answers(REFERENCES.folder, f"{ASSIGNMENT}/{exercise}")
        texts[right[0].cell] = text_of(f"{ASSIGNMENT}/{exercise}", right[0].name)
    assert points(grade_cells(ASSIGNMENT, notebook, texts)) == full(notebook)


def digest(cases: Sequence[Case]) -> list[float]:
    arrays = [array for case in cases for _, array in sorted(case.inputs.items())]
    return [round(float(np.sum(array, dtype=np.float64)), 3) for array in arrays]


# --- the oracles ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_stored_references_are_those_that_the_exercises_draw() -> None:
    """Numbers but for their last digits, in which one processor rounds otherwise than another."""
    seed = REFERENCES.seed(ASSIGNMENT) or 0
    for slug, made in REFERENCES.exercises(ASSIGNMENT).items():
        stored_cases = REFERENCES.cases(slug)
        draws = (draw(made, seed, skip=skip) for skip in range(20))  # a draw that hides a mistake is not stored
        chosen = next(cases for cases in draws if digest(cases) == digest(stored_cases))
        for new, old in zip(chosen, stored_cases, strict=True):
            assert (dict(new.config), dict(new.texts)) == (dict(old.config), dict(old.texts)), slug
            for part in ("inputs", "weights", "expected"):
                drawn, stored = dict(getattr(new, part)), dict(getattr(old, part))
                assert drawn.keys() == stored.keys(), (slug, part)
                for name, array in drawn.items():
                    digits = 1e-12 if array.dtype == np.float64 else 1e-6
                    np.testing.assert_allclose(array, stored[name], rtol=digits, atol=digits, err_msg=f"{slug}: {name}")

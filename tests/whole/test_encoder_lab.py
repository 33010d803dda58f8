"""The whole model of ``models.py``: a mistake in a class costs that class alone, a bad fit the points of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import solutions, texts_of
from autograder.exercise import Answers, SampleAnswer
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Check
from autograder.references import loader
from autograder.testing import StoredCase
from course.check.encoder_lab._models_file import read_models
from course.check.encoder_lab._whole import whole_model
from tests.grading import REFERENCES, ROOT

pytestmark = pytest.mark.slow

SLUG = "encoder_lab/whole_model"
PARTS = (
    "head_attention",
    "attention_head",
    "multi_head_init",
    "multi_head_attention",
    "feed_forward",
    "embeddings",
    "encoder_layer",
    "encoder",
    "classification_head",
    "classifier",
)
CASES = REFERENCES.cases(SLUG)
#: Wrong sizes or parts of the last class: what it then gives is no result of this model, and nothing takes its place.
NO_WHOLE = ("sizes 2", "sizes 3", "part-transformer_encoder", "part-classifier")


@cache
def solved() -> Mapping[str, str]:
    return solutions(Assignment.unreleased(Course(ROOT), "encoder_lab"))


def named_answers() -> Iterator[Any]:
    for exercise in PARTS:
        for answer in loader.sample_answers(REFERENCES.folder, f"encoder_lab/{exercise}")[1]:
            if answer.mistake and not (exercise == "classifier" and answer.name in NO_WHOLE):
                yield pytest.param(exercise, answer, id=f"{exercise}: {answer.name}")


def handed_over(text: str, folder: Path) -> list[dict[str, np.ndarray]]:
    """What the hidden cell hands over for each case where this is ``models.py``."""
    (folder / "models.py").write_text(text)
    models, found = read_models(folder / "models.py"), []
    for number, case in enumerate(CASES):
        weights = {f"weights/{name}": array for name, array in case.weights.items()}
        stored = StoredCase(SLUG, number, "torch", dict(case.config), {}, {**case.inputs, **weights})
        given = whole_model(models, stored)
        found.append({name: array.numpy() for name, array in given.items() if torch.is_tensor(array)})
    return found


def earned(given: list[dict[str, np.ndarray]], charged: Mapping[str, str]) -> float:
    """The share of the points where these exercises lost theirs, each by a mistake of this id (or one with no name)."""
    earlier = {
        f"encoder_lab/{name}": CellVerdict(name, "failed", 0.0, 4.0, (Check(name, False, "", "", mistake),))
        for name, mistake in charged.items()
    }
    exercise = REFERENCES.exercise(SLUG)
    assert exercise.rule is not None
    return min(
        exercise.rule(exercise, case, Answers(arrays, "", earlier)).earned
        for case, arrays in zip(CASES, given, strict=True)
    )


@pytest.mark.parametrize(("exercise", "answer"), named_answers())
def test_a_named_mistake_in_a_class_costs_the_whole_nothing(
    exercise: str, answer: SampleAnswer, tmp_path: Path
) -> None:
    given = handed_over(texts_of(answer, solved())["models.py"], tmp_path)
    assert earned(given, {exercise: answer.mistake, **dict.fromkeys(answer.also_costs, answer.mistake)}) == 1


GELU, LAST = ("self.gelu(self.linear_1(hidden_states))", "self.linear_1(hidden_states)"), ("[:, 0]", "[:, -1]")


def changed(*changes: tuple[str, str]) -> str:
    text = solved()["models.py"]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_solution_has_everything_and_needs_no_stand_in(tmp_path: Path) -> None:
    given = handed_over(solved()["models.py"], tmp_path)
    assert earned(given, {}) == 1
    for arrays in given:
        arrays["own/logits"] += 0.01
    assert earned(given, {}) == 0


def test_a_mistake_costs_the_whole_where_it_lost_no_points_before(tmp_path: Path) -> None:
    given = handed_over(changed(GELU), tmp_path)
    assert earned(given, {}) == 0
    assert earned(given, {"embeddings": "M11-none"}) == 0
    assert earned(given, {"feed_forward": ""}) == 0  # nobody knows what is wrong
    assert earned(given, {"feed_forward": "M12-none"}) == 1


def test_two_named_mistakes_cost_the_whole_nothing(tmp_path: Path) -> None:
    given = handed_over(changed(GELU, LAST), tmp_path)
    assert earned(given, {"feed_forward": "M12-none", "classifier": "M15-last"}) == 1
    assert earned(given, {"feed_forward": "M12-none", "classifier": "M15-mean"}) == 0
    assert earned(given, {"classifier": "M15-last"}) == 0
    assert earned(given, {"feed_forward": "M12-none"}) == 0


def test_where_encoder_and_head_both_have_a_stand_in_there_is_no_whole(tmp_path: Path) -> None:
    given = handed_over(solved()["models.py"], tmp_path)
    for arrays in given:
        arrays["own/logits"] += 1
    assert earned(given, {"encoder": "M14-order"}) == 1
    assert earned(given, {"classification_head": "M15-softmax"}) == 1
    assert earned(given, {"encoder": "M14-order", "classification_head": "M15-softmax"}) == 0

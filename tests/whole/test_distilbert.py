"""The whole DistilBERT: a mistake in a part costs that part's points, one in the assembly those of the whole."""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import solutions, texts_of
from autograder.exercise import Answers, SampleAnswer
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from autograder.references import loader
from autograder.testing import StoredCase
from course.check import whole
from tests.grading import REFERENCES, ROOT

pytestmark = pytest.mark.slow

SLUG = "distilbert/pretrained_logits"
SMALL = next(case for case in REFERENCES.cases(SLUG) if case.config["checkpoint"] == "small")
MODEL = ("encoder_list", "encoder_loop", "classifier")
EARLIER = ("position_ids", "embeddings", "attention_init", "attention_scores", "attention_weights", "attention_context")


@cache
def solved() -> dict[str, str]:
    return solutions(Assignment.unreleased(Course(ROOT), "distilbert"))


def wrong_answers(*exercises: str) -> Iterator[Any]:
    for exercise in exercises:
        for answer in loader.sample_answers(REFERENCES.folder, f"distilbert/{exercise}")[1]:
            yield pytest.param(exercise, answer, id=f"{exercise}: {answer.name}")


def handed_over(*answers: SampleAnswer) -> dict[str, np.ndarray]:
    """What the hidden cell hands over for the small model where these answers take the place of the solutions."""
    space: dict[str, Any] = {"torch": torch, "nn": nn, "math": math, "F": nn.functional}
    texts = dict(solved())
    for answer in answers:
        texts |= texts_of(answer, solved())
    for cell in ("embeddings_answer", "attention_block_answer", "classifier_model_answer"):
        # the parts that stand in for others read a student's source, as a notebook keeps it
        linecache.cache[f"<{cell}>"] = (len(texts[cell]), None, texts[cell].splitlines(keepends=True), f"<{cell}>")
        exec(compile(texts[cell], f"<{cell}>", "exec"), space)
    weights = {f"weights/{name}": array for name, array in SMALL.weights.items()}
    case = StoredCase(SLUG, 0, "torch", dict(SMALL.config), {}, {**SMALL.inputs, **weights})
    given = whole.small_logits(space["DistilBertClassifier"], space["AttentionBlock"], case)
    return {name: array.numpy() for name, array in given.items() if torch.is_tensor(array)}


def earned(given: dict[str, np.ndarray], *charged: str) -> float:
    """The share of the points where these exercises lost theirs."""
    earlier = {f"distilbert/{exercise}": CellVerdict(exercise, "failed", 0.0, 4.0) for exercise in charged}
    exercise = REFERENCES.exercise(SLUG)
    assert exercise.rule is not None
    return exercise.rule(exercise, SMALL, Answers(given, "", earlier)).earned


@pytest.mark.parametrize(("exercise", "answer"), wrong_answers(*MODEL, *EARLIER))
def test_a_mistake_in_a_part_costs_the_whole_nothing(exercise: str, answer: SampleAnswer) -> None:
    assert earned(handed_over(answer), exercise, *set(answer.also_costs) & {*MODEL, *EARLIER}) == 1


def named(exercise: str, mistake: str) -> SampleAnswer:
    _, wrong = loader.sample_answers(REFERENCES.folder, f"distilbert/{exercise}")
    return next(answer for answer in wrong if answer.mistake == mistake)


@pytest.mark.parametrize(
    "mistakes",
    [
        {"encoder_list": "M14-off", "classifier": "M15-relu"},
        {"attention_scores": "M2", "encoder_loop": "M14-backwards"},
        {"embeddings": "M11-none", "attention_context": "M12"},
        {"position_ids": "POS-one", "attention_context": "M12"},
        {"embeddings": "M11-product", "attention_weights": "M1", "encoder_list": "M14-list"},
        {"embeddings": "M11-product", "attention_weights": "M1", "classifier": "M15-softmax"},
    ],
    ids=str,
)
def test_several_mistakes_cost_the_whole_nothing(mistakes: dict[str, str]) -> None:
    texts = [named(exercise, mistake) for exercise, mistake in mistakes.items()]
    places = {answer.cell for answer in texts}
    if len(places) == len(texts):
        assert earned(handed_over(*texts), *mistakes) == 1
    else:
        both = SampleAnswer("both", changes=sum((answer.changes for answer in texts), ()), cell=texts[0].cell)
        assert earned(handed_over(both), *mistakes) == 1


@pytest.mark.parametrize("mistake", ["M15-relu", "M15-softmax"])
def test_a_mistake_that_lost_no_points_before_costs_those_of_the_whole(mistake: str) -> None:
    given = handed_over(named("classifier", mistake))
    assert earned(given) == 0
    assert earned(given, "encoder_loop") == 0
    assert earned(given, "classifier") == 1


@pytest.mark.parametrize(
    ("changes", "charged", "share"),
    [
        ({"output = encoder_input": "pass"}, ["encoder_loop"], 1),
        ({"nn.ModuleList(": "list(", "AttentionBlock(config) for": "nn.Linear(2, 2) for"}, ["encoder_list"], 1),
        ({"output = encoder_input": "pass", "self.classifier(pooled_output)": "nobody_knows"},
         ["encoder_loop", "classifier"], 0),
        ({"output = encoder_input": "pass", "nn.functional.relu": "torch.tanh"}, ["encoder_loop", "classifier"], 1),
    ],
)  # fmt: skip
def test_a_model_that_stops_for_one_part_costs_that_part_and_one_with_more_gaps_is_unfinished(
    changes: dict[str, str], charged: list[str], share: float
) -> None:
    stops = SampleAnswer("stops", changes=tuple(changes.items()), cell="classifier_model_answer")
    given = handed_over(stops)
    assert "logits" not in given
    assert earned(given, *charged) == share


def test_where_every_part_lost_its_points_there_is_no_whole() -> None:
    assert earned(handed_over(), *MODEL, "embeddings") == 0


def test_own_logits_are_no_evidence_for_a_classifier_that_lost_its_points() -> None:
    given = {"logits": SMALL.expected["logits"].astype(np.float32)}
    assert earned(given) == 1
    assert earned(given, "classifier") == 0


def test_a_model_need_not_keep_its_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(whole.stand_ins, "run_classifier_alone")
    kept = ("        self.config = config\n", "")
    without = SampleAnswer("no config", changes=(kept,), cell="classifier_model_answer")
    assert handed_over(without).keys() == handed_over().keys()

"""The whole classifier: a mistake in a part costs that part alone, a bad fit the points of the whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import solutions, texts_of
from autograder.exercise import Answers, SampleAnswer
from autograder.exercise.values import as_arrays
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Check
from autograder.references import loader
from autograder.testing import StoredCase
from course import tutorial_parts
from course.check.transformer_tutorial import whole
from tests.grading import REFERENCES, ROOT, exercise_module

pytestmark = pytest.mark.slow

SLUG = "transformer_tutorial/classifier_whole"
written, rule = exercise_module(SLUG), exercise_module("transformer_tutorial/_whole")
CASES = REFERENCES.cases(SLUG)
CELLS = (
    "dot_product_attention_answer",
    "self_attention_answer",
    "transformer_block_answer",
    "positional_encoding_answer",
    "mean_pooling_answer",
    "transformer_answer",
)


@cache
def solved() -> dict[str, str]:
    return solutions(Assignment.unreleased(Course(ROOT), "transformer_tutorial"))


def named_answers() -> Iterator[Any]:
    for exercise in (*rule.EARLIER, *rule.CLASSIFIER):
        for answer in loader.sample_answers(REFERENCES.folder, f"transformer_tutorial/{exercise}")[1]:
            if answer.mistake:
                yield pytest.param(exercise, answer, id=f"{exercise}: {answer.name}")


def handed_over(*answers: SampleAnswer, **ready: Any) -> list[dict[str, np.ndarray]]:
    """What the hidden cell hands over for each case where these answers take the place of the solutions.

    ready: names that mean ready-made parts in the classifier's notebook
    """
    space: dict[str, Any] = {"torch": torch, "nn": nn, "math": math, "F": F, "np": np}
    texts = dict(solved())
    for answer in answers:
        texts |= texts_of(answer, solved())
    for cell in CELLS:
        exec(compile(texts[cell], f"<{cell}>", "exec"), space)
        space |= ready
    found = []
    for number, case in enumerate(CASES):
        weights = {f"weights/{name}": array for name, array in case.weights.items()}
        stored = StoredCase(SLUG, number, "torch", dict(case.config), {}, {**case.inputs, **weights})
        torch.manual_seed(0)
        given = whole.classifier_whole(space["Transformer"], stored)
        found.append({key: array for name, value in given.items() for key, array in as_arrays(name, value).items()})
    return found


def earned(given: list[dict[str, np.ndarray]], charged: Mapping[str, str]) -> float:
    """The share of the points where these exercises lost theirs, by the mistakes of these ids (or with no name)."""
    earlier = {
        f"transformer_tutorial/{name}": CellVerdict(name, "failed", 0.0, 4.0, _checks(mistakes))
        for name, mistakes in charged.items()
    }
    exercise = REFERENCES.exercise(SLUG)
    assert exercise.rule is not None
    return min(
        exercise.rule(exercise, case, Answers(arrays, "", earlier)).earned
        for case, arrays in zip(CASES, given, strict=True)
    )


def _checks(mistakes: str) -> tuple[Check, ...]:
    return tuple(Check("part", False, "", "", mistake) for mistake in mistakes.split() or [""])


@pytest.mark.parametrize(("exercise", "answer"), named_answers())
def test_a_named_mistake_in_a_part_costs_the_whole_nothing(exercise: str, answer: SampleAnswer) -> None:
    charged = {exercise: answer.mistake, **dict.fromkeys(answer.also_costs, answer.mistake)}
    if exercise == "classifier_padding" and 0 in (answer.points, answer.share):  # both halves, each by a mistake
        charged[exercise] += " M10-unsaid"
    assert earned(handed_over(answer), charged) == 1


def test_the_solution_has_everything_and_what_differs_from_it_has_nothing() -> None:
    given = handed_over()
    assert earned(given, {}) == 1
    given[1]["log_probabilities"] = given[1]["log_probabilities"] + 0.01
    assert earned(given, {}) == 0


def changed(cell: str, *changes: tuple[str, str]) -> SampleAnswer:
    assert all(old in solved()[cell] for old, _ in changes)
    return SampleAnswer("changed", changes=changes, cell=cell)


NO_SKIP = changed("transformer_block_answer", ("self.norm_1(attended + x)", "self.norm_1(attended)"))
LOGITS = changed("transformer_answer", ("F.log_softmax(logits, dim=1)", "logits"))


def test_dropout_that_lost_its_points_is_switched_off() -> None:
    given = handed_over(
        changed("transformer_answer", ("F.log_softmax(logits, dim=1)", "F.log_softmax(F.dropout(logits), dim=1)"))
    )
    assert earned(given, {}) == 0
    assert earned(given, {"classifier_forward": "M16"}) == 1
    assert earned([{}, {}], {"classifier_forward": "M16"}) == 0


def test_a_mistake_costs_the_whole_where_it_lost_no_points_before() -> None:
    given = handed_over(NO_SKIP)
    assert earned(given, {}) == 0
    assert earned(given, {"positional_values": "M11-base"}) == 0
    assert earned(given, {"block_attention": "M7"}) == 1
    assert earned(given, {"block_attention": ""}) == 1  # a ready-made block takes its place, whatever is wrong


def test_two_named_mistakes_cost_the_whole_nothing() -> None:
    given = handed_over(NO_SKIP, LOGITS)
    assert earned(given, {"block_attention": "M7", "classifier_forward": "M15-logits"}) == 1
    assert earned(given, {"block_attention": "M7", "classifier_forward": "M15-softmax"}) == 0
    assert earned(given, {"block_attention": "M7"}) == 0
    assert earned(given, {"classifier_forward": "M15-logits"}) == 0


def test_where_the_classifier_is_wrong_in_an_unknown_way_there_is_no_whole() -> None:
    assert earned(handed_over(LOGITS), {"classifier_forward": ""}) == 0
    assert earned(handed_over(LOGITS), {"classifier_parts": ""}) == 0


@pytest.mark.parametrize(
    "ready",
    [
        {"TransformerBlock": tutorial_parts.ReadyTransformerBlock},
        {"PositionalEncoding": tutorial_parts.ReadyPositions},
        {"mean_pooling": tutorial_parts.ready_mean_pooling},
        {
            "TransformerBlock": tutorial_parts.ReadyTransformerBlock,
            "PositionalEncoding": tutorial_parts.ReadyPositions,
            "mean_pooling": tutorial_parts.ready_mean_pooling,
            "SelfAttention": tutorial_parts.ReadySelfAttention,
        },
        {"SelfAttention": tutorial_parts.ReadySelfAttention},
    ],
    ids=" ".join,
)
def test_with_ready_made_parts_in_the_notebook_the_assembly_is_judged_all_the_same(ready: dict[str, Any]) -> None:
    assert earned(handed_over(**ready), {}) == 1
    assert earned(handed_over(LOGITS, **ready), {}) == 0


def test_the_model_in_numpy_is_that_of_torch() -> None:
    for case in CASES:
        right = written.with_mistakes(case, ())[0, 0, 0]
        np.testing.assert_allclose(right, case.expected["log_probabilities"], atol=1e-9)


def test_the_rule_knows_every_part_that_the_hidden_cell_replaces() -> None:
    assert rule.PARTS == whole.PARTS
    assert set(rule.EARLIER.values()) | {"layers"} == set(whole.PARTS)

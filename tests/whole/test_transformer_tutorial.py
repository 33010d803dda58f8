"""The whole classifier: a mistake in a part costs that part alone, a bad fit the points of the whole."""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import solutions
from autograder.exercise import Answers
from autograder.exercise.values import as_arrays
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from autograder.testing import StoredCase
from course import tutorial_parts
from course.check.transformer_tutorial import whole
from tests.grading import REFERENCES, ROOT, exercise_module

pytestmark = pytest.mark.slow

SLUG = "transformer_tutorial/classifier_whole"
written = exercise_module(SLUG)
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


def handed_over(*changes: tuple[str, str, str], **ready: Any) -> list[dict[str, np.ndarray]]:
    """What the hidden cell hands over for each case where the solution of a cell is changed, from some words to others.

    ready: names that mean ready-made parts in the classifier's notebook
    """
    space: dict[str, Any] = {"torch": torch, "nn": nn, "math": math, "F": F, "np": np}
    texts = dict(solved())
    for cell, old, new in changes:
        assert texts[cell].count(old) == 1
        texts[cell] = texts[cell].replace(old, new)
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


def earned(given: list[dict[str, np.ndarray]], *charged: str) -> float:
    """The share of the points where these exercises lost theirs."""
    earlier = {f"transformer_tutorial/{name}": CellVerdict(name, "failed", 0.0, 4.0) for name in charged}
    exercise = REFERENCES.exercise(SLUG)
    assert exercise.rule is not None
    return min(
        exercise.rule(exercise, case, Answers(arrays, "", earlier)).earned
        for case, arrays in zip(CASES, given, strict=True)
    )


NO_SKIP = "transformer_block_answer", "self.norm_1(attended + x)", "self.norm_1(attended)"
LOGITS = "transformer_answer", "F.log_softmax(logits, dim=1)", "logits"
SEAM = "transformer_answer", "self.encode(x, mask)", "self.encode(x, ~mask)"


def test_a_mistake_costs_the_whole_where_no_part_lost_points_before() -> None:
    given = handed_over(NO_SKIP)
    assert earned(given) == 0
    assert earned(given, "block_attention") == 1


def test_a_wrong_line_that_was_given_costs_the_whole_whatever_a_part_lost() -> None:
    given = handed_over(SEAM)
    assert earned(given) == earned(given, "block_attention") == earned(given, "classifier_parts") == 0


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
    assert earned(handed_over(**ready)) == 1
    assert earned(handed_over(LOGITS, **ready)) == 0


def test_the_model_in_numpy_is_that_of_torch() -> None:
    for case in CASES:
        right = written._log_probabilities(case, ())
        np.testing.assert_allclose(right, case.expected["log_probabilities"], atol=1e-9)

"""In what forms a right answer may come: what counts is its numbers, not the class or precision that holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from autograder.exercise.case_inputs import as_array as _as_array
from autograder.exercise.model import Answers
from autograder.pipeline.judge import _compared
from tests.grading import REFERENCES

SLUG = "encoder_lab/attention_scores"


def earned(answer: Any) -> float:
    """What the exercise's first case gives for this object, handed over as a hidden cell does."""
    name, array = _as_array("scores", answer)
    return _compared([], REFERENCES.exercise(SLUG), REFERENCES.cases(SLUG)[0], Answers({name: array})).earned


def right() -> np.ndarray:
    return REFERENCES.cases(SLUG)[0].expected["scores"]


class Named(np.ndarray):
    """A subclass as a student's library may have one."""


FORMS = {
    "float64": lambda: right(),
    "float32": lambda: right().astype(np.float32),
    "a tensor": lambda: torch.from_numpy(right()).float(),
    "a tensor in double": lambda: torch.from_numpy(right()),
    "a tensor with gradient": lambda: torch.from_numpy(right()).requires_grad_(),
    "a parameter": lambda: nn.Parameter(torch.from_numpy(right())),
    "a transposed view": lambda: torch.from_numpy(right().swapaxes(1, 2).copy()).transpose(1, 2),
    "in Fortran's order": lambda: np.asfortranarray(right()),
    "lists of numbers": lambda: right().tolist(),
    "a subclass": lambda: right().view(Named),
    "a masked array": lambda: np.ma.masked_array(right()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_right_answer_is_right_in_any_form(form: str) -> None:
    assert earned(FORMS[form]()) == 1


WRONG = {
    "true and false": lambda: right() > 0,
    "whole numbers": lambda: right().round().astype(int),
    "rounded to float16": lambda: right().astype(np.float16).round(1),
    "with an axis too many": lambda: right()[None],
    "one number for all": lambda: right()[0, 0, 0],
    "nan for some": lambda: np.where(right() > 0, np.nan, right()),
}


@pytest.mark.parametrize("form", WRONG)
def test_other_numbers_are_wrong_in_any_form(form: str) -> None:
    assert earned(WRONG[form]()) == 0


NO_NUMBERS = [np.array([{}, []], dtype=object), {"scores": 1}, 1j, np.array([1j]), {1, 2}]


@pytest.mark.parametrize("answer", NO_NUMBERS, ids=str)
def test_what_holds_no_numbers_is_refused_with_its_name(answer: Any) -> None:
    with pytest.raises(TypeError, match="scores: expected a tensor or array of numbers"):
        _as_array("scores", answer)


def test_what_was_handed_over_does_not_change_with_its_array() -> None:
    given = torch.ones(2)
    _, array = _as_array("scores", given)
    given.zero_()
    assert array.tolist() == [1, 1]

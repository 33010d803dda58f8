"""In what forms a right answer may come: what counts is its numbers, not the class or precision that holds them."""

import re
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn

from autograder.exercise import Answers, Case, Exercise, compare_case
from autograder.exercise.case_inputs import CaseInputs
from autograder.exercise.values import NotComparable, as_arrays, drawn
from autograder.pipeline.judge import _compared
from tests.grading import REFERENCES

SLUG = "encoder_lab/attention_scores"


def earned(answer: Any) -> float:
    """What the exercise's first case gives for this object, handed over as a hidden cell does."""
    arrays = as_arrays("scores", answer)
    return _compared([], REFERENCES.exercise(SLUG), REFERENCES.cases(SLUG)[0], Answers(arrays)).earned


def right() -> np.ndarray:
    return REFERENCES.cases(SLUG)[0].expected["scores"]


MADE = Exercise(lambda generator: [], slug="heat/told")


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
    "a dictionary": lambda: {"scores": right()},
    "nan for some": lambda: np.where(right() > 0, np.nan, right()),
}


@pytest.mark.parametrize("form", WRONG)
def test_other_numbers_are_wrong_in_any_form(form: str) -> None:
    assert earned(WRONG[form]()) == 0


NO_NUMBERS = [np.array([{}, []], dtype=object), 1j, np.array([1j]), {1, 2}]


@pytest.mark.parametrize("answer", NO_NUMBERS, ids=str)
def test_what_holds_no_numbers_is_refused_with_its_name(answer: Any) -> None:
    with pytest.raises(TypeError, match="scores: expected a tensor or array of numbers"):
        as_arrays("scores", answer)


def test_what_was_handed_over_does_not_change_with_its_array() -> None:
    given = torch.ones(2)
    (array,) = as_arrays("scores", given).values()
    given.zero_()
    assert array.tolist() == [1, 1]


def test_a_drawing_is_what_it_shows() -> None:
    axes = plt.figure().gca()
    for slope in (1, 2):
        axes.plot([0, 1, 2], [0, slope, 2 * slope], label=f"{slope} m/s")
    axes.set_xlabel("time in s")
    axes.legend()
    shown = drawn(axes.figure)
    assert (shown["x"].shape, shown["y"][1].tolist(), shown["xlabel"]) == ((2, 3), [0, 2, 4], "time in s")
    assert (shown["legend"], shown["yscale"]) == (["1 m/s", "2 m/s"], "linear")
    assert axes.figure.number not in plt.get_fignums()
    axes.plot([0], [0])
    with pytest.raises(NotComparable, match="different numbers of points"):
        drawn(axes)
    for kind in ("bar", "scatter"):
        getattr(axes := plt.figure().gca(), kind)([1, 2], [3, 4])
        assert [drawn(axes)[name].tolist() for name in "xy"] == [[1, 2], [3, 4]]
    assert drawn(3) == drawn(np.ones(2)) == drawn("a") == {}


TOLD = {"temperatures": {"mean": 2.5, "of": ["north", "south"]}, "names": ["a", "b"], "count": 3, "title": "heat"}


def test_a_case_takes_numbers_texts_lists_of_texts_and_dictionaries_on_both_sides() -> None:
    case = Case({}, TOLD, expected=TOLD)
    assert (case.inputs, case.texts) == ({}, TOLD)
    handed = CaseInputs("heat/told", 0, "numpy", {}, dict(case.texts), dict(case.inputs))
    assert (handed.temperatures, handed.names, handed.count, handed.title) == tuple(TOLD.values())
    handed.compare(**TOLD)
    assert compare_case(MADE, case, Answers(handed._answers)).earned == 1


@pytest.mark.parametrize(
    ("name", "other", "message"),
    [
        ("temperatures", {"mean": 2.4, "of": ["north", "south"]}, r"temperatures\[mean\]"),
        ("temperatures", {"mean": 2.5, "of": ["south", "north"]}, r"temperatures\[of\]"),
        ("temperatures", {"mean": 2.5}, "keys of temperatures"),
        ("temperatures", {"mean": 2.5, "of": ["north", "south"], "max": 3}, "keys of temperatures"),
        ("temperatures", 2.5, "keys of temperatures: nothing came"),
        ("count", {"count": 3}, "count: expected a tensor or array of numbers, but it is a dictionary"),
        ("names", ["a"], "names"),
    ],
)
def test_each_difference_is_told_by_its_name(name: str, other: object, message: str) -> None:
    handed = CaseInputs("heat/told", 0, "numpy", {}, {}, {})
    handed.compare(**{**TOLD, name: other})
    judgement = compare_case(MADE, Case(expected=TOLD), Answers(handed._answers))
    said = [check.message for check in judgement.checks if not check.passed]
    assert judgement.earned == 0 and re.search(message, said[0]), said


KINDS = r"\['energy'\] is \w+; a case takes arrays, numbers, texts"
MANY = dict.fromkeys(range(101), 1)


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        *((kind, value, KINDS) for kind in ("inputs", "expected") for value in (None, 1j, {1, 2}, np.array(["a"]))),
        ("expected", {"a": {"b": 1}}, KINDS),
        ("expected", MANY, KINDS),
        ("inputs", MANY, r"\['energy'\] would come back from its file as something else"),
    ],
)
def test_anything_else_is_refused_with_its_name_and_type(kind: str, value: object, said: str) -> None:
    with pytest.raises(TypeError, match=kind + said):
        Case(**{kind: {"energy": value}})

"""Hints that are chosen by the exception, for visible checks, for answers that never came, and for plain tests."""

from importlib import import_module

import numpy as np
import pytest

from autograder.exercise.hints import hint_about
from autograder.exercise.visible import CheckFailed, running
from autograder.pipeline import outcomes
from autograder.pipeline.judge_tests import judge_test

PI = 3.14


class Made:
    def __init__(self) -> None:
        self.layer = None


def no_gpu() -> None:
    raise RuntimeError("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU")


def torch_says(words: str) -> None:
    raise RuntimeError(words)


def unpacked() -> None:
    _first, _second = (1, 2, 3)


def unbound() -> None:
    total += 1  # noqa: F821, F841


STOPS = {
    "keepdims": lambda: np.ones((3, 5)) - np.ones((3, 5)).max(axis=-1),
    "the names of their axes": lambda: np.ones((3, 5)) @ np.ones((3, 5)),
    "last but one": lambda: torch_says("mat1 and mat2 shapes cannot be multiplied (30x4 and 12x12)"),
    "multiply the sizes": lambda: np.ones((3, 5)).reshape(4, 4),
    "fewer axes": lambda: np.ones(3)[0, 0],
    "less than the size": lambda: [1, 2][2],
    "left of the =": unpacked,
    "gave None": lambda: None + 1,
    "__init__ sets it": lambda: Made().other,
    "is of type int": lambda: (3).shape,
    "no GPU": no_gpu,
    "do without it": lambda: import_module("a_package_that_nobody_has"),
    "give this name a value": unbound,
    "Compare the call": lambda: no_gpu(1),
    "hide a function": lambda: PI(4),
    "take one number": lambda: bool(np.ones(3)),
}


@pytest.mark.parametrize(("words", "stops"), STOPS.items(), ids=STOPS)
def test_the_hint_fits_the_exception(words: str, stops) -> None:
    with pytest.raises(Exception) as raised:
        stops()
    assert words in hint_about(type(raised.value).__name__, str(raised.value))
    with pytest.raises(CheckFailed, match="It stopped with") as failed, running("name", "this"):
        stops()
    assert words in failed.value.look


def test_an_exception_that_says_enough_has_no_hint() -> None:
    assert hint_about("ValueError", "choose takes logits of shape (1, vocabulary)") == ""


def stopped(hidden: bool) -> str:
    ended = outcomes.PartOutcome("error", "AttributeError", "'Model' object has no attribute 'secret'")
    outcome = outcomes.TestOutcome(
        "student", ended, own=True, own_lines="model.secret", statement="assert f()", hidden=hidden
    )
    return judge_test("test", 1.0, outcome, "model.secret").checks[0].hint


def test_of_a_hidden_test_the_hint_repeats_no_word_of_the_exception() -> None:
    assert "secret" in stopped(hidden=False) and "__init__" in stopped(hidden=False)
    assert "__init__" not in stopped(hidden=True)

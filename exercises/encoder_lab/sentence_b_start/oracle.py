"""Where the second sentence begins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._arrays import Wrong


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for first, second in ((7, 9), (4, 10), (11, 3)):
        types = np.array([[0] * first + [1] * second])
        cases.append(
            Case({"first": first, "second": second}, {"token_type_ids": types}, expected={"start": np.array(first)})
        )
    return cases


def _start(value: Callable[[int, int], int]) -> Wrong:
    return lambda case: {"start": np.array(value(int(case.config["first"]), int(case.config["second"])))}


MISTAKES = [
    Mistake(
        "start-sep",
        "That is the position of the first [SEP]: it still belongs to the first sentence.",
        "The second sentence begins right behind it.",
        _start(lambda a, b: a - 1),
    ),
    Mistake(
        "start-next",
        "That is one too far: positions count from 0.",
        "The position is the number of tokens before it.",
        _start(lambda a, b: a + 1),
    ),
    Mistake(
        "start-second",
        "That is the length of the second sentence.",
        "Count the tokens of the first one.",
        _start(lambda a, b: b),
    ),
    Mistake(
        "start-all",
        "That is the length of both sentences together.",
        "Count the tokens of the first one.",
        _start(lambda a, b: a + b),
    ),
    Mistake(
        "start-words",
        "[CLS] and [SEP] were not counted.",
        "They are tokens like the others.",
        _start(lambda a, b: a - 2),
    ),
    Mistake(
        "start-zero",
        "That is where the first sentence begins.",
        "token_type_ids tells the two apart.",
        _start(lambda a, b: 0),
    ),
    Mistake(
        "start-one",
        "That is the first sentence's first word, or the number of 0s in one column.",
        "Which axis are the tokens?",
        _start(lambda a, b: 1),
    ),
]


EXERCISE = Exercise(_make, mistakes=MISTAKES, framework="torch")

"""The causal mask: 1 where a token may look, 0 at what comes later."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._arrays import Wrong

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
    return [Case({"n": n}, expected={"mask": np.tril(np.ones((1, n, n)))}) for n in (5, 3, 8)]


def _masked(change: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"mask": change(case.expected["mask"])}


MISTAKES = [
    Mistake(
        "M10-inverted",
        "The mask is inverted: it allows what comes later, and only that.",
        "1 where a token may look, 0 where it may not.",
        _masked(lambda mask: 1 - mask),
    ),
    Mistake(
        "M10-upper",
        "The ones are above the diagonal: each token sees what comes after it.",
        "Row i is what token i may see.",
        _masked(lambda mask: mask.swapaxes(1, 2)),
    ),
    Mistake(
        "M10-diagonal",
        "The diagonal is missing: a token may look at itself.",
        "Where does the triangle begin?",
        _masked(lambda mask: np.tril(mask, -1)),
    ),
    Mistake(
        "M10-ahead",
        "The triangle reaches one too far: each token sees the next one.",
        "Where does the triangle end?",
        _masked(lambda mask: np.tril(np.ones_like(mask), 1)),
    ),
    Mistake("M10-ones", "Everything is allowed.", "A token may not look at later ones.", _masked(np.ones_like)),
    Mistake(
        "M10-eye",
        "Each token sees itself alone.",
        "It may also look at what came before it.",
        _masked(lambda mask: np.eye(mask.shape[1])[None]),
    ),
    Mistake(
        "M10-shape",
        "The axis for the batch is missing.",
        "(1, n, n): one mask for all sentences of a batch.",
        _masked(lambda mask: mask[0]),
    ),
    Mistake(
        "M10-filled",
        "The mask holds minus infinity already: that is what the scores become, later.",
        "Ones and zeros.",
        _masked(lambda mask: np.where(mask == 0, -np.inf, 0.0)),
    ),
]


EXERCISE = Exercise(_make, mistakes=MISTAKES, framework="torch")

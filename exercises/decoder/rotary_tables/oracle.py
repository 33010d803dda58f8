"""cos and sin of the angles by which rotary positions turn, in float64; tests compare them with transformers' own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._modern import angles, tables

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    """The positions of the last case are those of a model that has read 11 tokens before."""
    cases = []
    for positions, head_size, base in (
        (np.arange(7), 8, []), (np.array([3, 0, 9, 4, 17]), 6, [500000.0]), (np.arange(11, 20), 10, []),
    ):  # fmt: skip
        cos, sin = tables(positions, head_size, *base)
        inputs = {"positions": positions.astype(np.int64)}
        cases.append(Case({"head_size": head_size, "base": base}, inputs, expected={"cos": cos, "sin": sin}))
    return cases


def _turned(compute: Callable[[Array, int, float], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """compute: positions, head_size, base -> the angles (tokens, head_size)"""

    def answers(case: Case) -> Mapping[str, Array]:
        found = compute(case.inputs["positions"], case.config["head_size"], *(case.config["base"] or [10000.0]))
        return {"cos": np.cos(found), "sin": np.sin(found)}

    return answers


def _twice(found: Array) -> Array:
    return np.concatenate([found, found], axis=-1)


def _swapped(case: Case) -> Mapping[str, Array]:
    return {"cos": case.expected["sin"], "sin": case.expected["cos"]}


def _half(case: Case) -> Mapping[str, Array]:
    half = case.config["head_size"] // 2
    return {name: table[:, :half] for name, table in case.expected.items()}


MISTAKES = [
    Mistake("TABLE-swap", "cos and sin have changed places.", "cos comes first.", _swapped),
    Mistake("TABLE-neighbours", "Neighbouring columns share an angle; here columns i and i + head_size / 2 do.",
            "All angles once, then all of them once more: torch.cat.",
            _turned(lambda p, n, base: angles(p, n, base).repeat(2, axis=-1))),
    Mistake("TABLE-half", "Each table has half of the columns.", "Both numbers of a pair need the angle: twice.",
            _half),
    Mistake("TABLE-step", "The angles fall too slowly from pair to pair.",
            "In the exponent stands 2i / head_size, where i counts the pairs.",
            _turned(lambda p, n, base: _twice(angles(p, n, base, step=1.0)))),
    Mistake("TABLE-step4", "The angles fall too fast from pair to pair.",
            "Is the 2 of the exponent there twice? arange(0, head_size, 2) already is 2i.",
            _turned(lambda p, n, base: _twice(angles(p, n, base, step=4.0)))),
    Mistake("TABLE-base", "The base that was given is not used.", "It is the function's third argument.",
            _turned(lambda p, n, base: _twice(angles(p, n)))),
    Mistake("TABLE-order", "The positions that were given are not used: yours count from 0.",
            "Row t belongs to positions[t].", _turned(lambda p, n, base: _twice(angles(np.arange(len(p)), n, base)))),
    Mistake("TABLE-one", "Every position is counted one too high.", "Position 0 is not turned.",
            _turned(lambda p, n, base: _twice(angles(p + 1, n, base)))),
    Mistake("TABLE-columns", "Every column has an angle of its own; two columns share one.",
            "There are head_size / 2 angles for each position.",
            _turned(lambda p, n, base: p[:, None] / base ** (np.arange(n) / n))),
    Mistake("TABLE-circle", "The angles were multiplied by 2π.", "Position 1 turns the first pair by an angle of 1.",
            _turned(lambda p, n, base: 2 * np.pi * _twice(angles(p, n, base)))),
    Mistake("TABLE-sign", "The angles are negative: this turns backwards.", "The angle is position times frequency.",
            _turned(lambda p, n, base: -_twice(angles(p, n, base)))),
]  # fmt: skip

EXERCISE = Exercise(make, mistakes=MISTAKES, framework="torch", atol=2e-5)

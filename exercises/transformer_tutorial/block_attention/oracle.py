"""The first half of ``TransformerBlock``: what the feed-forward network is given must be norm_1 of the sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_value,
    find_mistake,
    named,
    without_side_effects,
    wrong,
)

from .._block import attend, make, norm, x_of

Array = np.ndarray


def _between(compute: Callable[[Case, Array, Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """compute: case, what goes into the attention, what comes out -> what the network is given by mistake"""
    return lambda case: {"between": compute(case, x_of(case), attend(x_of(case)))}


def _pre_norm(case: Case, x: Array) -> Array:
    return attend(norm(x, case, 1))


MISTAKES = [
    Mistake("M7", "The residual connection around the attention is missing.", "Add what went in to what came out.",
            _between(lambda case, x, attended: norm(attended, case, 1))),
    Mistake("M7", "The residual connection around the attention is missing.", "Add what went in to what came out.",
            _between(lambda case, x, attended: norm(2 * attended, case, 1))),
    Mistake("M7-attention", "What the attention gave is missing: only x was normalised.",
            "Add what went in to what came out.", _between(lambda case, x, attended: norm(x, case, 1))),
    Mistake("M8", "The LayerNorm comes before the addition.", "Post-LN: add first, then normalise the sum.",
            _between(lambda case, x, attended: norm(attended, case, 1) + x)),
    Mistake("M8-pre", "This is a pre-LN block: x was normalised before the attention.",
            "Here the sum is normalised, behind the attention.",
            _between(lambda case, x, attended: _pre_norm(case, x) + x)),
    Mistake("M8-none", "The sum was not normalised.", "norm_1 takes the sum.",
            _between(lambda case, x, attended: attended + x)),
    Mistake("M8-skip", "x was normalised before it was added.", "The skip takes x as it is.",
            _between(lambda case, x, attended: attended + norm(x, case, 1))),
    Mistake("NORM-2", "norm_2 was used where norm_1 belongs.", "Each of the two has its own learned scale and shift.",
            _between(lambda case, x, attended: norm(attended + x, case, 2))),
    Mistake("M8-normed", "x was normalised first, and the skip starts behind the norm.",
            "Post-LN: nothing happens to x before it is added.",
            _between(lambda case, x, attended: norm(x, case, 1) + _pre_norm(case, x))),
    Mistake("M7-mlp", "The feed-forward network was never called, so what it should be given cannot be seen.",
            "Attention, add and norm, feed-forward network, add and norm: all four are in forward."),
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got = answers.arrays.get("between")
    if got is None:
        return named(exercise, "M7-mlp")
    check = compare_value("between", got, case.expected["between"], exercise)
    if check.passed or got.shape != case.expected["between"].shape:
        return Judgement([check])
    mistake = find_mistake(exercise, case, answers)
    if mistake is not None:
        return mistake.judgement()
    return wrong(
        "between",
        "What the feed-forward network is given is not norm_1 of the sum.",
        "Two lines: attend; then add x and normalise.",
    )


EXERCISE = Exercise(make, without_side_effects(judge), MISTAKES, framework="torch")

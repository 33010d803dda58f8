"""The second half of ``TransformerBlock``: the output must be norm_2 of what went into the network plus what came out.

What went in is what the student's own first half gave, where that lost its points; else what it must have given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    Rule,
    compare_value,
    find_mistake,
    not_charged_twice,
    without_side_effects,
    wrong,
)

from .._block import ATTENTION, attend, feed, make, norm, x_of
from .._given import BLOCK_MISTAKES, as_given, in_block

Array = np.ndarray


def _output(compute: Callable[[Case, Array, Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """compute: case, what goes into the network, what comes out -> what the block gives by mistake"""

    def answers(case: Case) -> Mapping[str, Array]:
        entered = case.expected["between"]
        return {"output": compute(case, entered, feed(entered))}

    return answers


MISTAKES = [
    Mistake("M7-ffn", "The residual connection around the feed-forward network is missing.",
            "Add what went into the feed-forward network to what came out.",
            _output(lambda case, entered, fed: norm(fed, case, 2))),
    Mistake("M7-place", "The second residual comes from the wrong place: from the block's input.",
            "What goes around the feed-forward network is what went into it.",
            _output(lambda case, entered, fed: norm(fed + x_of(case), case, 2))),
    Mistake("M7-mlp", "What the feed-forward network gave is missing.", "Add what went in to what came out.",
            _output(lambda case, entered, fed: norm(entered, case, 2))),
    Mistake("M7-mlp-out", "What comes out is norm_1's output: the second half is missing.",
            "Feed-forward network, add, norm_2.", _output(lambda case, entered, fed: entered)),
    Mistake("M7-attended", "The second residual is the attention's output.",
            "What goes around the feed-forward network is what went into it.",
            _output(lambda case, entered, fed: norm(fed + attend(x_of(case)), case, 2))),
    Mistake("M8", "The LayerNorm comes before the addition.", "Post-LN: add first, then normalise the sum.",
            _output(lambda case, entered, fed: norm(fed, case, 2) + entered)),
    Mistake("M8-none", "The sum was not normalised.", "norm_2 takes the sum.",
            _output(lambda case, entered, fed: fed + entered)),
    Mistake("M8-none-skip", "Neither skip nor norm: the feed-forward network's output comes out bare.",
            "Add, then norm_2.", _output(lambda case, entered, fed: fed)),
    Mistake("NORM-1", "norm_1 was used twice.", "Each of the two has its own learned scale and shift.",
            _output(lambda case, entered, fed: norm(fed + entered, case, 1))),
    *BLOCK_MISTAKES,
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got = answers.arrays.get("output")
    check = compare_value("output", got, case.expected["output"], exercise)
    if check.passed or got is None or got.shape != case.expected["output"].shape or got.dtype.kind != "f":
        return Judgement([check])
    mistake = find_mistake(exercise, _with_own_first_half(case, answers), answers)
    if mistake is not None:
        return mistake.judgement()
    return wrong(
        "output",
        "The block's output is not norm_2 of the second sum.",
        "Two lines: feed; then add what went in and normalise.",
    )


def _follows(case: Case, answers: Answers) -> bool:
    got, want = answers.arrays.get("output"), _with_own_first_half(case, answers).expected["output"]
    fits = got is not None and got.shape == want.shape and got.dtype.kind == "f"
    return fits and bool(np.allclose(got, want, atol=1e-5, rtol=1e-4))


def _with_own_first_half(case: Case, answers: Answers) -> Case:
    """The case with what the student's first half gave, and the output that follows, where it lost its points."""
    between, want = answers.arrays.get("between"), case.expected["between"]
    if not answers.charged(ATTENTION) or between is None or between.shape != want.shape or not _tells(between):
        return case
    entered = between.astype(np.float64)
    return replace(case, expected={"between": entered, "output": norm(feed(entered) + entered, case, 2)})


def _tells(between: Array) -> bool:
    """True where the numbers of every token differ: of equal ones LayerNorm makes a constant, whatever came before."""
    return (
        between.dtype.kind == "f" and bool(np.isfinite(between).all()) and float(np.ptp(between, axis=-1).min()) > 1e-3
    )


def _changed_once(rule: Rule) -> Rule:
    """``rule``, but what the block changes in place is charged by the first half alone, where that lost its points."""

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        if not answers.charged(ATTENTION):
            return rule(exercise, case, answers)
        arrays = {name: array for name, array in answers.arrays.items() if name != "changed"}
        return rule(exercise, case, replace(answers, arrays=arrays))

    return judge


RULE = as_given(not_charged_twice(judge, (ATTENTION,), _follows, "output"), in_block)
RULE = _changed_once(without_side_effects(RULE, unless=(ATTENTION,)))
EXERCISE = Exercise(make, RULE, MISTAKES, framework="torch")

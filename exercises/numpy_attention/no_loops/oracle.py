"""The bonus "not one loop": a right answer first, then no loop in the source of what computed it."""

from __future__ import annotations

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    better_of_own_and_ready,
    compare_case,
    named,
    right,
    wrong,
)
from course.check.numpy_attention._loops import find_loops

from .._heads import N_HEADS, moderate, oracle

FUNCTION = "apply_multihead_attention"
#: Characters. A syntax tree takes some hundred times the memory of its text.
MAX_SOURCE = 200_000

MISTAKES = [
    Mistake(
        "LOOP",
        "A Python loop is left: {loops}.",
        "Let one einsum, or @ on a stack of matrices, serve all heads at once.",
    )
]
_compare = better_of_own_and_ready(compare_case)


def make(generator: np.random.Generator) -> list[Case]:
    inputs = moderate(generator, 6, 10, N_HEADS)
    return [Case({}, inputs, expected={"y": oracle(inputs)})]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    judgement = _compare(exercise, case, answers)
    if judgement.earned < 1 or not answers.source:  # the instructor's own Jupyter hands over no source
        return judgement
    if len(answers.source) > MAX_SOURCE:
        message = f"More than {MAX_SOURCE:,} characters of code: that is not read."
        return wrong("no_loops", message, "Leave out what the exercises do not need.")
    loops = find_loops(answers.source, FUNCTION)
    if loops is None:
        message = f"There is no function {FUNCTION} at the top level that could be read."
        return wrong("no_loops", message, "Define it with def, not inside another function.")
    return named(exercise, "LOOP", loops="; ".join(loops)) if loops else right("no_loops")


EXERCISE = Exercise(make, judge, MISTAKES)

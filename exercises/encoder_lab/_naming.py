"""Names for what any class of ``models.py`` may get wrong: sizes of its layers and parts, its norms, its dropout."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, Rule, dropout_at_work

Array = np.ndarray

SIZES = Mistake(
    "sizes",
    "{part} is made with other sizes than the assignment asks for, or with the right ones in another order.",
    "Which number goes in, which comes out? The class that you call says in which order it takes its arguments.",
)
DROPPED = dropout_at_work("Numbers of the output")
#: What :func:`with_names` may say of a class that has an output.
NAMES = (SIZES, DROPPED)


def with_names(rule: Rule, **parts: str) -> Rule:
    """``rule``; where it knows no name, wrong sizes, wrong norms and numbers dropped in eval mode get theirs.

    parts: answers about sizes -> what feedback calls the part. The catalogue must hold what can be said.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement = rule(exercise, case, answers)
        failed = [check for check in judgement.checks if not check.passed]
        if judgement.earned == 1 or any(check.mistake for check in failed):
            return judgement
        right = [check for check in judgement.checks if check.passed]
        for check in failed:
            if check.name in parts and check.name in answers.arrays:
                return exercise.mistake("sizes").judgement(*right, part=parts[check.name])
            if check.name == "own_norms":
                return exercise.mistake("norm-plain").judgement(*right)
        return exercise.mistake("M16").judgement(*right) if _dropped(case, answers) else judgement

    return judge


def _dropped(case: Case, answers: Answers) -> bool:
    """True where an output is the right one but for zeros, and enlarged by one common factor, as behind a dropout."""
    for name, want in case.expected.items():
        kind = name.rpartition("/")[2]
        if kind not in ("output", "logits"):
            continue
        for got in (array for key, array in answers.arrays.items() if key.rpartition("/")[2] == kind):
            if got.shape == want.shape and _is_dropped(got, want):
                return True
    return False


def _is_dropped(got: Array, want: Array) -> bool:
    kept = (got != 0) & (np.abs(want) > 1e-3)
    if not (got == 0).any() or not kept.any():
        return False
    ratio = got[kept] / want[kept]
    return bool(np.ptp(ratio) < 1e-2 and ratio.mean() > 1.01)

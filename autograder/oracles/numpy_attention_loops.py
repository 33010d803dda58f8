"""The bonus "not one loop": a right answer first, then the source of what computed it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, compare_case
from autograder.oracles import numpy_attention_heads as heads
from course.check.numpy_attention.loops import find_loops

FUNCTION = "apply_multihead_attention"
#: A syntax tree takes some hundred times the memory of its text.
MAX_SOURCE = 200_000


def _make(generator: np.random.Generator) -> list[Case]:
    inputs = heads.moderate(generator, 6, 10, heads.N_HEADS)
    return [Case({}, inputs, expected={"y": heads.oracle(inputs)})]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    judgement = max((_compared(exercise, case, answers, name) for name in ("own", "with_ready")), key=_earned)
    if judgement.earned < 1 or not answers.source:  # without a source (the teacher's own Jupyter) nothing can be read
        return judgement
    if len(answers.source) > MAX_SOURCE:
        message = f"More than {MAX_SOURCE:,} characters of code: that is not read."
        return Judgement([Check("no_loops", False, message, "Leave out what the exercises do not need.")])
    found = find_loops(answers.source, FUNCTION)
    if found is None:
        message = f"There is no function {FUNCTION} at the top level that could be read."
        return Judgement([Check("no_loops", False, message, "Define it with def, not inside another function.")])
    message = f"A Python loop is left: {'; '.join(found)}."
    hint = "Let one einsum, or @ on a stack of matrices, serve all heads at once."
    return Judgement([Check("no_loops", not found, message, hint, "LOOP" if found else "")])


def _compared(exercise: Exercise, case: Case, answers: Answers, name: str) -> Judgement:
    """The answer with the submission's own softmax, or with a ready-made one."""
    given = {"y": answers.arrays[name]} if name in answers.arrays else {}
    return compare_case(exercise, case, replace(answers, arrays=given))


def _earned(judgement: Judgement) -> float:
    return judgement.earned


EXERCISES = [Exercise(_make, judge, framework="numpy", slug="numpy_attention/no_loops")]

"""The rules of three exercises that no visible check judges by."""

from __future__ import annotations

import re

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    compare_case,
    named,
    right,
    whole,
    wrong,
)
from course.check.numpy_attention._loops import find_loops

#: The function in which no loop may be.
FUNCTION = "apply_multihead_attention"
#: Characters. A syntax tree takes some hundred times the memory of its text.
MAX_SOURCE = 200_000


def without_loops(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """A right answer, and no loop in the source of what computed it."""
    judgement = whole(compare_case)(exercise, case, answers)
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


def true_statements(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Half of the points where one statement is judged wrongly, nothing where more are.

    The mistakes' ids end with the statements' letters.
    """
    true, said = (_letters(given.text("true_statements")) for given in (Answers(case.expected), answers))
    known = {mistake.id[-1]: mistake for mistake in exercise.mistakes}
    if not said or not said <= known.keys():
        message = "Expected the letters of the true statements, a to e, as a list."
        return wrong("statements", message, 'For instance ["a"], with as many letters as you think are true.')
    missed = said ^ true
    checks = [
        mistake.check() if letter in missed else Check(f"statement {letter}", True) for letter, mistake in known.items()
    ]
    return Judgement(checks, {0: 1.0, 1: 0.5}.get(len(missed), 0.0))


def _letters(said: object) -> set[str]:
    entries = re.findall("[a-z]", said.lower()) if isinstance(said, str) else said if isinstance(said, list) else []
    return {entry.strip().strip("().").lower() if isinstance(entry, str) else "" for entry in entries}


def written_tests(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Nothing where a right implementation is rejected; else the share of the wrong ones that are.

    The case says in which order the implementations were tried: the right ones have the first numbers, then come those
    of the mistakes.
    """
    order, rejected = case.expected["order"], answers.arrays.get("rejected")
    if rejected is None or rejected.shape != order.shape or rejected.dtype.kind != "b":
        message = "Expected one yes or no for each implementation; none came."
        return wrong("tests", message, "Does test_attention(attention, inputs) run to its end?")
    by_number = rejected[np.argsort(order)]
    n_right = len(order) - len(exercise.mistakes)
    if refused := int(by_number[:n_right].sum()):
        return wrong(
            "right",
            f"Your tests reject {refused} of {n_right} right implementations.",
            "Right ones differ in their last digits, and some compute in float32: compare with a tolerance of 1e-4.",
        )
    checks = [
        Check(mistake.id, True) if caught else mistake.check()
        for mistake, caught in zip(exercise.mistakes, by_number[n_right:], strict=True)
    ]
    return Judgement([Check("right", True), *checks], sum(check.passed for check in checks) / len(checks))

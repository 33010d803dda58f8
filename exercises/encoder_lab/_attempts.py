"""Judging answers that a class gave in several attempts: with stand-ins for its parts, and with its own parts.

The expected answers ``stand_in/…`` are held against every ``stand_in_<i>/…``, ``own/…`` against ``own/…``; the best
attempt counts. Answers without such a prefix belong to all of them. How a part was asked for (``…_arguments``) is
looked at where it is known: a part made under another name leaves no trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, compare_case, find_mistake

Array = np.ndarray
#: With which stand-ins (at most a few ways to make them), then with the class's own parts. Other names are no attempt.
ATTEMPTS = (*(f"stand_in_{number}" for number in reversed(range(8))), "own")

#: Looked at where they are known: how parts were asked for, and which a class has under their names.
OPTIONAL = ("_arguments", "_parts", "_norms")


def judge_attempts(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    came = {name.partition("/")[0] for name in answers.arrays if "/" in name}
    judgements = [_judge(exercise, case, answers, name) for name in ATTEMPTS if name in came]
    if not judgements:
        return _judge(exercise, case, answers, "stand_in_0")
    return next((judged for judged in judgements if judged.earned == 1), None) or next(
        (judged for judged in judgements if any(check.mistake for check in judged.checks)), judgements[0]
    )


def _judge(exercise: Exercise, case: Case, answers: Answers, attempt: str) -> Judgement:
    given = _of(answers.arrays, attempt)
    expected = _of(case.expected, "own" if attempt == "own" else "stand_in")
    asked = {name: want for name, want in expected.items() if not name.endswith(OPTIONAL) or name in given}
    unnamed = replace(exercise, mistakes=())
    own_answers = replace(answers, arrays=given)
    judgement = compare_case(unnamed, replace(case, expected=asked), own_answers)
    mistake = None if judgement.earned == 1 else find_mistake(exercise, case, own_answers)
    if mistake is None:
        return judgement
    return mistake.judgement(*(check for check in judgement.checks if check.passed))


def _of(arrays: Mapping[str, Array], attempt: str) -> dict[str, Array]:
    common = {name: array for name, array in arrays.items() if "/" not in name}
    return common | {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{attempt}/")}

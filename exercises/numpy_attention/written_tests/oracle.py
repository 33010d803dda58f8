"""Tests that students write: how many wrong implementations they reject, and whether they accept the right ones."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, wrong

from .._implementations import IMPLEMENTATIONS, draw_inputs, record

Array = np.ndarray
RIGHT = [one for one in IMPLEMENTATIONS if one.description is None]
WRONG = [one for one in IMPLEMENTATIONS if one.description is not None]


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(2):
        order = generator.permutation(len(IMPLEMENTATIONS))
        shuffled = [IMPLEMENTATIONS[number] for number in order]
        inputs = record(draw_inputs(generator), shuffled)
        cases.append(Case({"implementations": len(shuffled)}, inputs, expected={"order": order}))
    return cases


def _accepted(id: str, case: Case) -> dict[str, Array]:
    """What is handed over where the tests accept this wrong implementation, and reject all other wrong ones."""
    rejected = [one.id for one in WRONG if one.id != id]
    return {"rejected": np.array([IMPLEMENTATIONS[number].id in rejected for number in case.expected["order"]])}


MISTAKES = [
    Mistake(
        one.id, f"Your tests let pass an implementation that {one.description}.", one.hint, partial(_accepted, one.id)
    )
    for one in WRONG
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Nothing where a right implementation is rejected; else the share of the wrong ones that are."""
    order, rejected = case.expected["order"], answers.arrays.get("rejected")
    if rejected is None or rejected.shape != order.shape or rejected.dtype.kind != "b":
        message = "Expected one yes or no for each implementation; none came."
        return wrong("tests", message, "Does test_attention(attention, inputs) run to its end?")
    said = {IMPLEMENTATIONS[number].id: bool(no) for number, no in zip(order, rejected, strict=True)}
    refused = sum(said[one.id] for one in RIGHT)
    if refused:
        return wrong(
            "right",
            f"Your tests reject {refused} of {len(RIGHT)} right implementations.",
            "Right ones differ in their last digits, and some compute in float32: compare with a tolerance of 1e-4.",
        )
    checks = [Check(mistake.id, True) if said[mistake.id] else mistake.check() for mistake in exercise.mistakes]
    return Judgement([Check("right", True), *checks], sum(check.passed for check in checks) / len(checks))


EXERCISE = Exercise(make, judge, MISTAKES)

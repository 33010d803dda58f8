"""Rules of this assignment's exercises, and the mistakes that they name."""

from dataclasses import replace

import numpy as np

from .._rules import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_value,
    find_mistake,
    named,
    right,
)

#: No exponential of ordinary scores overflows.
LARGE = 100.0

CHANGED = Mistake(
    "CHANGED", "The function changes the array that it is given.",
    "-= and /= write into their left side; whoever called you still needs it.", share=0.5,
)  # fmt: skip


def half_for_large_numbers(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Ordinary numbers decide everything; where only the large ones fail, half of the points stay."""
    weights = compare_value("weights", answers.arrays.get("weights"), case.expected["weights"], exercise)
    if not weights.passed:
        mistake = find_mistake(exercise, case, answers)
        judgement = mistake.judgement() if mistake else Judgement([weights])
        return replace(judgement, share=0.5 if np.abs(case.inputs["scores"]).max() > LARGE else 0.0)
    if not np.array_equal(answers.arrays.get("scores", np.zeros(0)), case.expected["scores"]):
        return named(exercise, "CHANGED")
    return right("weights")

"""``softmax``: the definition earns one half of the points, large numbers the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    compare_value,
    find_mistake,
    right,
)

from .._layers import softmax

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    cases = [_case(generator.normal(0, 1.5, shape)) for shape in ((3, 5), (6, 4))]
    far = np.array([[900.0], [-900.0], [0.0], [0.0]]) + generator.normal(0, 1.5, (4, 5))
    far[2, 1] -= 1600  # within one row: only its largest number may be subtracted
    far[3, 2] += 1800  # and not the mean, far below it; nor is one maximum enough for all rows above 0
    return [*cases, _case(far, large=True)]


def _case(scores: Array, large: bool = False) -> Case:
    import torch  # needed only to draw cases: notebooks and judging run without it

    scores = scores.astype(np.float32).astype(np.float64)
    weights = torch.softmax(torch.from_numpy(scores), dim=-1).numpy()
    return Case({"large": large}, {"scores": scores}, expected={"weights": weights, "scores": scores})


def _with(kind: str) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {"weights": softmax(case.inputs["scores"], kind)}


def _shifted(shift: Callable[[Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """shift: scores (n, m) -> what was subtracted from each row in place of its largest number (n,)"""

    def answers(case: Case) -> Mapping[str, Array]:
        scores = case.inputs["scores"]
        with np.errstate(over="ignore", invalid="ignore"):
            exponentials = np.exp(scores - shift(scores)[:, None])
            return {"weights": exponentials / exponentials.sum(axis=-1, keepdims=True)}

    return answers


MISTAKES = [
    Mistake(
        "M1",
        "The columns sum to 1; it is each row that must.",
        "A row belongs to one query: along which axis of (n, m) do its numbers stand?",
        _with("queries"),
    ),
    Mistake(
        "M1-all",
        "All numbers together sum to 1; it is each row that must.",
        "Both the maximum and the sum need to be told which axis to run along.",
        _with("all"),
    ),
    Mistake(
        "M1-none",
        "The scores came back as they are.",
        "e to the power of each, divided by the row's sum.",
        _with("none"),
    ),
    Mistake(
        "M1-undivided",
        "The rows do not sum to 1: the exponentials were not divided by their sum.",
        "Sum along the row, keep the axis, divide.",
        _with("shifted_undivided"),
    ),
    Mistake(
        "M1-undivided-large",
        "The rows do not sum to 1: the exponentials were not divided by their sum.",
        "Sum along the row, keep the axis, divide.",
        _with("undivided"),
    ),
    Mistake(
        "M1-shares",
        "Each number was divided by its row's sum, without the exponential.",
        "Without it, negative scores give negative weights.",
        _with("shares"),
    ),
    Mistake(
        "M1-sigmoid",
        "This is the sigmoid: each number by itself, and no row sums to 1.",
        "In a softmax the numbers of a row compete: what one gets, the others lose.",
        _with("sigmoid"),
    ),
    Mistake(
        "M1-negative",
        "The smallest score got the largest weight.",
        "Look at the sign in the exponent.",
        _with("negative"),
    ),
    Mistake(
        "M1-logarithm", "These are the logarithms of the weights.", "Leave the last logarithm out.", _with("logarithm")
    ),
    Mistake(
        "M1-power",
        "Powers of 2 were made; of e they should be.",
        "np.exp is e to the power of each number.",
        lambda case: {"weights": softmax(case.inputs["scores"] * np.log(2))},
    ),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.", _with("twice")),
    Mistake(
        "M1-column-shift",
        "From each number the largest of its column was subtracted, not the largest of its row.",
        "What is subtracted must be the same number for a whole row; else it does not cancel.",
        _with("column_shift"),
    ),
    Mistake(
        "M1-overflow",
        "Large scores give nan: their exponential is more than a float can hold.",
        "Subtract something from each row first; it cancels in the division.",
        _with("unshifted"),
    ),
    Mistake(
        "M1-min-shift",
        "A row with numbers far apart gives nan: its smallest number was subtracted.",
        "Which number must be subtracted, for no exponent to be above 0?",
        _shifted(lambda scores: scores.min(axis=-1)),
    ),
    Mistake(
        "M1-mean-shift",
        "A row with one number far above the others gives nan: its mean was subtracted.",
        "Which number must be subtracted, for no exponent to be above 0?",
        _shifted(lambda scores: scores.mean(axis=-1)),
    ),
    Mistake(
        "M1-size-shift",
        "A row with large negative numbers gives nan: its largest number without the sign was subtracted.",
        "The largest number of a row may be negative. Is abs needed?",
        _shifted(lambda scores: np.abs(scores).max(axis=-1)),
    ),
    Mistake(
        "M1-one-shift",
        "A row whose numbers are far below the rest comes out as nan.",
        "One maximum for the whole array is not enough: each row needs its own.",
        _with("one_shift"),
    ),
    Mistake(
        "CHANGED",
        "The function changes the array that it is given.",
        "-= and /= write into their left side; whoever called you still needs the scores.",
        share=0.5,
    ),
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Ordinary numbers decide everything; where only the large ones fail, half of the points stay."""
    weights = compare_value("weights", answers.arrays.get("weights"), case.expected["weights"], exercise)
    if not weights.passed:
        mistake = find_mistake(exercise, case, answers)
        judgement = mistake.judgement() if mistake else Judgement([weights])
        return replace(judgement, share=0.5 if case.config["large"] else 0.0)
    if not np.array_equal(answers.arrays.get("scores", np.zeros(0)), case.expected["scores"]):
        return exercise.mistake("CHANGED").judgement(Check("weights", True))
    return right("weights")


EXERCISE = Exercise(make, judge, MISTAKES)

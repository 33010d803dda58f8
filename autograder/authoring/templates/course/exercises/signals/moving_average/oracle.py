"""The hidden cases of the exercise: inputs drawn at random, and the right answers to them. Students never see them.

The right answers come from a library (NumPy's own convolution), not from the solution in the notebook: so the solution
is tested as well.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

#: (number of values, window) of each case. Sizes differ, so that a mixed-up size changes the shape of the result.
SIZES = ((11, 3), (8, 2), (20, 6))


def make(generator: np.random.Generator) -> list[Case]:
    """The cases of one exam. Another seed draws other numbers."""
    return [_case(generator.normal(5, 2, size=size), window) for size, window in SIZES]


def _case(values: np.ndarray, window: int) -> Case:
    means = np.convolve(values, np.full(window, 1 / window), mode="valid")  # (n - window + 1,)
    return Case(config={"window": window}, inputs={"values": values}, expected={"means": means})


def _sum(case: Case) -> Mapping[str, np.ndarray]:
    return {"means": case.expected["means"] * case.config["window"]}


def _edges(case: Case) -> Mapping[str, np.ndarray]:
    window = case.config["window"]
    return {"means": np.convolve(case.inputs["values"], np.full(window, 1 / window), mode="same")}


def _one_short(case: Case) -> Mapping[str, np.ndarray]:
    return {"means": case.expected["means"][:-1]}


#: What somebody who makes the mistake hands over. Feedback shows message and hint; neither may hold an expected value.
MISTAKES = [
    Mistake("sum", "These are sums of the values in each window.", "A mean is divided by the number of values.", _sum),
    Mistake("edges", "There are means of windows that hang over the ends.", "Count only windows of full size.", _edges),
    Mistake("one-short", "The last window is missing.", "Where does the last window start? range excludes its end.",
            _one_short),
]  # fmt: skip

EXERCISE = Exercise(make, mistakes=MISTAKES)

"""Means of neighbouring values. Expected answers: NumPy's own convolution, so that the solution is tested as well.

Students never see this file; the visible check has public cases, drawn from another seed.
"""

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

#: (number of values, window) of each case. Sizes differ, so that a mixed-up size changes the shape of the result.
SIZES = ((11, 3), (8, 2), (20, 6), (5, 5))


def cases(generator: np.random.Generator) -> list[Case]:
    """The cases of one exam. Another seed draws other numbers."""
    return [_case(generator.normal(5, 2, size=size), window) for size, window in SIZES]


def _case(values: np.ndarray, window: int) -> Case:
    means = np.convolve(values, np.full(window, 1 / window), mode="valid")  # (n - window + 1,)
    return Case(inputs={"values": values, "window": window}, expected={"moving_average": means})


# What somebody who makes a mistake writes in place of some words of the solution. Feedback and the visible check show
# message and hint; neither may hold an expected value. One without an id is wrong in a way that has no name.
MISTAKES = [
    Mistake("sum", "These are sums of the values in each window.", "A mean is divided by the number of values.",
            ("return sums / window", "return sums")),
    Mistake("edges", "There are means of windows that hang over the ends.", "Count only windows of full size.",
            ("return sums / window", 'return np.convolve(values, np.ones(window) / window, "same")')),
    Mistake("one-short", "The last window is missing.", "Where does the last window start? range excludes its end.",
            ("return sums / window", "return sums[:-1] / window")),
    Mistake("", "the median, which is the mean of two values but not of three", "",
            ("return sums / window",
             "return np.median(np.lib.stride_tricks.sliding_window_view(values, window), axis=1)")),
]  # fmt: skip

# Right answers in other styles: all of them must have full points.
HEAD = "def moving_average(values, window):"
RIGHT = {
    "a loop over the windows": variant(HEAD, """
        means = []
        for start in range(len(values) - window + 1):
            means.append(sum(values[start : start + window]) / window)
        return np.array(means)
    """),
    "a view of all windows": variant(HEAD, """
        return np.lib.stride_tricks.sliding_window_view(values, window).mean(axis=1)
    """),
    "a convolution": variant(HEAD, 'return np.convolve(values, np.ones(window), "valid") / window'),
}  # fmt: skip

EXERCISE = Exercise(
    cases, mistakes=MISTAKES, right=RIGHT, given=("values", "window"),
    shows=("one mean for each window", "a window of all values"),
)  # fmt: skip

"""Right and wrong answers to try the exercise with: ``autograder check`` runs each of them."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

RIGHT = [
    SampleAnswer(
        "a loop over the windows",
        text="""
def moving_average(values, window):
    means = []
    for start in range(len(values) - window + 1):
        means.append(sum(values[start : start + window]) / window)
    return np.array(means)
""",
    ),
    SampleAnswer(
        "a view of all windows",
        text="""
def moving_average(values, window):
    return np.lib.stride_tricks.sliding_window_view(values, window).mean(axis=1)
""",
    ),
    SampleAnswer(
        "a convolution",
        text="""
def moving_average(values, window):
    return np.convolve(values, np.ones(window), "valid") / window
""",
    ),
]

WRONG = [
    SampleAnswer(
        "sums instead of means",
        text="""
def moving_average(values, window):
    return np.convolve(values, np.ones(window), "valid")
""",
        points=0,
        mistake="sum",
    ),
    SampleAnswer(
        "windows that hang over the ends",
        text="""
def moving_average(values, window):
    return np.convolve(values, np.ones(window) / window, "same")
""",
        points=0,
        mistake="edges",
    ),
    SampleAnswer(
        "without the last window",
        text="""
def moving_average(values, window):
    return np.array([values[start : start + window].mean() for start in range(len(values) - window)])
""",
        points=0,
        mistake="one-short",
    ),
    SampleAnswer(
        "the median, which is the mean of two values but not of three",
        text="""
def moving_average(values, window):
    return np.median(np.lib.stride_tricks.sliding_window_view(values, window), axis=1)
""",
        points=0,
        unseen=True,
    ),
]

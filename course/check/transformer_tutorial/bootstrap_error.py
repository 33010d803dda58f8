"""The stretch goal of notebook 3: the standard error of an accuracy by the bootstrap. Ungraded."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course.check.base import fail, passed, running
from course.check.modules import undisturbed
from course.check.stretch import begun

NAME = "bootstrap_error"
DRAWS = 2000
#: How far the spread of 2,000 accuracies may lie from the right one: nine of its own standard deviations.
TOLERANCE = 9 / (2 * DRAWS) ** 0.5


@undisturbed
def bootstrap_error(function: Callable[[Tensor, int], Any], accuracy: float | None = None, n: int = 0) -> None:
    """What the formula says where there is one, and the right error of a difference where there is no simple one."""
    hits = torch.tensor([1.0] * 34 + [0.0] * 6)
    if not begun(NAME, function, hits.clone(), 10):
        return
    found, want = _called(function, hits), float(hits.std(correction=0)) / 40**0.5
    if not abs(found / want - 1) <= TOLERANCE:  # nan is no number of any size
        expected = f"34 hits of 40 have a standard error of about {want:.3f}."
        fail(NAME, expected, f"Yours is {found:.3g}.", _look(found / want, hits, want))
    difference = torch.tensor([1.0] * 40 + [-1.0] * 20 + [0.0] * 940)
    found, want = _called(function, difference), float(difference.std(correction=0)) / 1000**0.5
    if not abs(found / want - 1) <= TOLERANCE:  # nan is no number of any size
        expected = f"40 times 1, 20 times -1 and 940 times 0 have a standard error of about {want:.4f}."
        fail(NAME, expected, f"Yours is {found:.4f}.", "Draw samples; the formula holds for hits of 0 and 1 alone.")
    passed(NAME, "34 of 40 spread as the formula says", "so does a difference of two models")
    if accuracy is not None and n:
        own = torch.zeros(n)
        own[: round(accuracy * n)] = 1
        print(f"  Your model: {accuracy:.1%} ± {_called(function, own):.1%} over reviews, measured on {n:,}.")


def _called(function: Callable[[Tensor, int], Any], hits: Tensor) -> float:
    """One number, and the argument is as it was."""
    before = hits.clone()
    with running(NAME, f"{len(hits)} sentences and {DRAWS:,} draws", "Print the shape after every step."):
        found = torch.as_tensor(function(hits, DRAWS))
    if found.numel() != 1:
        look = "The standard deviation over all draws."
        fail(NAME, "one number comes back.", f"Yours has the shape {tuple(found.shape)}.", look)
    if not torch.equal(hits, before):
        fail(NAME, "hits must stay as they are.", "Your function changed them.", "Shuffling and sorting may do so.")
    return float(found)


def _look(ratio: float, hits: Tensor, want: float) -> str:
    """The mistake that makes the result so many times too large."""
    n = len(hits)
    known = {
        n**0.5: "That is the spread of single hits. Average each sample first; then the spread of the averages.",
        DRAWS**-0.5: "The spread of the averages is the answer. It is not divided by the root of draws again.",
        (n / DRAWS) ** 0.5: "That fits samples of as many sentences as there are draws. Each sample has n.",
        want: "That is the variance; the standard error is its root.",
        float(hits.mean()) / want: "That is the accuracy itself. How far does it spread from sample to sample?",
        100.0: "That is in percent; give a share, as accuracies are given here.",
    }
    if math.isnan(ratio):
        return "One single average has no spread. Is each sample averaged on its own?"
    if ratio < 1e-3:
        return "All samples have the same accuracy: without replacement, each sample holds every sentence once."
    near = [says for times, says in known.items() if abs(ratio / times - 1) < TOLERANCE]
    return near[0] if near else "n of the n sentences, with replacement; their average; again and again."

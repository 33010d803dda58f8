"""The bigram baseline."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects

V = 4


@undisturbed
def bigram(function: Any) -> None:
    """How likely each word is after each word, counted, with one count added for every pair."""
    name = "bigram"

    def table(ids: list[int]) -> Tensor:
        with running(name, f"{len(ids)} ids and a vocabulary of {V}", "Count the pairs of neighbours."):
            found = function(torch.tensor(ids), V)
        same_shape(name, "the table", found, (V, V), "(word, next word)", "One row for each word.")
        result: Tensor = found
        return result

    text = torch.tensor([0, 1, 0, 1, 0, 2, 3])
    check_side_effects(name, lambda ids: function(ids, V), text)
    logs = table([0, 1, 0, 1, 0, 2, 3])
    finite(name, "the logarithms", logs, "Every pair gets one count more than it has, so that none is 0.")
    if not close(logs.exp().sum(1), torch.ones(V)):
        came = "Yours are probabilities already." if close(logs.sum(1), torch.ones(V)) else "Yours do not."
        if close(logs.exp().sum(0), torch.ones(V)):
            came = "Yours do over the first axis."
        elif abs(float(logs.exp().sum()) - 1) < 1e-4:
            came = "Yours do over the whole table."
        fail(name, "the probabilities of all next words, e to the power of a row, sum to 1.", came, "Row: word before.")
    if not close(table([0]), torch.full((V, V), -math.log(V))):
        fail(name, "without a pair, every next word is equally likely.", "Yours are not.", "One count for every pair.")
    zero, last = logs[0].exp(), logs[3].exp()
    if not close(last, torch.full((V,), 1 / V)):
        fail(name, "after the text's last word nothing was seen.", "In yours something was.", "6 pairs in 7 words.")
    if not close(zero, torch.tensor([1.0, 3.0, 2.0, 1.0]) / 7):
        came = f"In yours the row of word 0 is {[round(float(p), 2) for p in zero]}."
        look = "Counts plus one, divided by the sum of the row."
        fail(name, "word 0 is followed by word 1 twice and by word 2 once.", came, look)
    passed(name, "every row sums to 1", "no probability is 0", "neighbours are counted")

"""Notebook 2: how much of each head's weight goes to [SEP]."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import fail, passed, running, same_shape
from course.check.modules import undisturbed

TOKENS = ["[CLS]", "dog", "[SEP]", "cat", "[SEP]"]


@undisturbed
def separator_share(function: Any) -> None:
    """How much of each head's weight goes to [SEP]."""
    name = "separator_share"
    attention = torch.zeros(3, 5, 5)
    attention[0, :, 1] = 1.0  # head 0: everybody looks at "dog"
    attention[1, :, 2], attention[1, :, 4] = 0.5, 0.25  # head 1: half on the first [SEP], a quarter on the second
    attention[1, :, 0], attention[1, :, 3] = 0.2, 0.05
    attention[2, 4, 4] = 1.0  # head 2: only the last token looks at [SEP]
    attention[2, :4, 0] = 1.0
    with running(name, "separator_share(attention, tokens)", "Which columns belong to [SEP]?"):
        share = function(attention, list(TOKENS))
    same_shape(name, "the shares", share, (3,), "(heads,)", "One number a head.")
    if abs(float(share[0])) > 1e-6:
        fail(
            name,
            "a head in which nobody looks at [SEP] has a share of 0.",
            f"Yours has {float(share[0]):.3g}.",
            "Rows are queries, columns are keys.",
        )
    if abs(float(share[1]) - 0.75) > 1e-6:
        words = {
            0.5: "Only the first [SEP] was counted.",
            0.25: "Only the last [SEP] was counted.",
            0.375: "Both [SEP] count in full.",
            3.75: "The queries were added up.",
        }
        fail(
            name,
            "where every query gives half to one [SEP] and a quarter to the other, the share is 0.75.",
            f"Yours is {float(share[1]):.3g}.",
            words.get(round(float(share[1]), 3), ""),
        )
    if abs(float(share[2]) - 0.2) > 1e-6:
        fail(
            name,
            "where one query of five gives all to [SEP], the share is 0.2.",
            f"Yours is {float(share[2]):.3g}.",
            "An average over the queries.",
        )
    _three(name, function)
    passed(name, "both [SEP] count", "averaged over the queries")


def _three(name: str, function: Any) -> None:
    """Three [SEP], none of them at the end, and two queries for seven keys."""
    attention = torch.zeros(1, 2, 7)
    attention[0, 0], attention[0, 1, 0] = torch.tensor([0.0, 0.0, 0.1, 0.0, 0.2, 0.4, 0.3]), 1.0
    with running(name, "separator_share with 2 queries and 7 keys", "Every [SEP] counts, wherever it stands."):
        share = function(attention, ["[CLS]", "dog", "[SEP]", "cat", "[SEP]", "[SEP]", "man"])
    same_shape(name, "the shares", share, (1,), "(heads,)", "One number a head.")
    if abs(float(share[0]) - 0.35) > 1e-6:
        fail(
            name,
            "where one query of two gives 0.1, 0.2 and 0.4 to three [SEP], the share is 0.35.",
            f"Yours is {float(share[0]):.3g}.",
            "Every [SEP] counts, wherever it stands; the average is over the queries, here fewer than the keys.",
        )

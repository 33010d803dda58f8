"""Notebook 2: each head's average weight on the token before."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import as_array, fail, passed, running, same_shape
from course.check.modules import undisturbed


@undisturbed
def previous_token(function: Any) -> None:
    """Each head's average weight on the token before."""
    name = "previous_token"
    n = 5
    attentions = torch.zeros(2, 3, n, n)
    attentions[0, 0] = torch.eye(n)  # itself
    attentions[0, 1] = torch.eye(n)[[0, *range(n - 1)]]  # the one before; the first one, which has none, itself
    attentions[0, 2] = torch.eye(n)[[*range(1, n), 0]]  # the next
    attentions[1] = 1 / n
    attentions[1, 2] = torch.eye(n)[[0, 0, 0, 2, 2]]  # one token back for queries 1 and 3 alone
    with running(name, "previous_token(attentions)", "Row i is query i; which column is the token before it?"):
        weight = as_array(function(attentions))
    same_shape(name, "the weights", weight, (2, 3), "(layers, heads)", "One number for every layer and head.")
    if abs(float(weight[0, 1]) - 1) > 1e-6:
        fail(
            name,
            "a head that always looks one token back has a weight of 1.",
            f"Yours has {float(weight[0, 1]):.3g}.",
            "Average over the queries that have a token before them: the first one has none.",
        )
    for head, words in ((0, "itself"), (2, "the next token")):
        if abs(float(weight[0, head])) > 1e-6:
            fail(
                name,
                f"a head that looks at {words} alone has a weight of 0.",
                f"Yours has {float(weight[0, head]):.3g}.",
                "Row i is query i; which column is the token before it?",
            )
    if abs(float(weight[1, 0]) - 1 / n) > 1e-6:
        fail(name, "a head that looks everywhere alike gives each token 1/5.", f"Yours has {float(weight[1, 0]):.3g}.")
    if abs(float(weight[1, 2]) - 0.5) > 1e-6:
        fail(
            name,
            "a head that looks one token back for every other query has a weight of 0.5.",
            f"Yours has {float(weight[1, 2]):.3g}.",
            "An average over the queries.",
        )
    passed(name, "one token back", "averaged over the queries that have one")

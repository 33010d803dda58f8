"""Notebook 2: query times key, dimension by dimension."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch

from course.check.base import as_array, close, fail, passed, running, same_shape
from course.check.modules import undisturbed


@undisturbed
def products(function: Any) -> None:
    """Query times key, dimension by dimension."""
    name = "products"
    query, keys = torch.tensor([2.0, 0.0, -1.0, 4.0]), torch.eye(4)[:3]
    with running(name, "products(query, keys)", "query (d,), keys (tokens, d)"):
        came = as_array(function(query, keys))
    same_shape(
        name,
        "the products",
        came,
        (3, 4),
        "(tokens, d)",
        "One number for every key and dimension; the sum comes later.",
    )
    if close(came, query * keys):
        fail(name, "the sums over the dimensions must be the scores, which are scaled.", "Yours are not scaled.")
    if not close(came.sum(-1), torch.tensor([2.0, 0.0, -1.0]) / sqrt(4)):
        fail(
            name,
            "for keys that are unit vectors the sums must be 1, 0 and -0.5: the query's numbers, scaled.",
            f"Yours are {', '.join(f'{value:.3g}' for value in came.sum(-1).tolist())}.",
            "What is a score divided by?",
        )
    if abs(float(came[0, 3])) > 1e-6:
        fail(name, "where the key is 0, the product is 0.", f"Yours is {float(came[0, 3]):.3g}.")
    passed(name, "a number for every key and dimension", "their sums are the scores")

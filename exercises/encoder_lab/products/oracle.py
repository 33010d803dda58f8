"""Query times key, dimension by dimension."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ..._attention import softmax
from .._arrays import Wrong, normal

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for tokens, size in ((5, 9), (7, 4)):
        inputs = {"query": normal(generator, size, size=1.3), "keys": normal(generator, tokens, size, size=1.3)}
        exact = inputs["query"].astype(np.float64) * inputs["keys"].astype(np.float64)
        cases.append(Case(inputs=inputs, expected={"products": exact / size**0.5}))
    return cases


def _product(change: Callable[[Array, Array], Array]) -> Wrong:
    return lambda case: {
        "products": change(case.inputs["query"].astype(np.float64), case.inputs["keys"].astype(np.float64))
    }


MISTAKES = [
    Mistake(
        "M2",
        "The products are not scaled: their sums are not the scores.",
        "A score is divided by √d, and so is each part of it.",
        _product(lambda q, k: q * k),
    ),
    Mistake(
        "M3",
        "The products are divided by d, not by its root.",
        "As in the attention itself.",
        _product(lambda q, k: q * k / len(q)),
    ),
    Mistake(
        "M3-keys",
        "The products are divided by the root of the number of tokens.",
        "d is the length of query and key.",
        _product(lambda q, k: q * k / len(k) ** 0.5),
    ),
    Mistake(
        "product-sum",
        "These are the scores: the sum over the dimensions was taken already.",
        "One number for every key and dimension.",
        _product(lambda q, k: k @ q / len(q) ** 0.5),
    ),
    Mistake(
        "product-softmax",
        "A softmax was applied to the products.",
        "The softmax comes later, on the sums.",
        _product(lambda q, k: softmax(q * k / len(q) ** 0.5)),
    ),
    Mistake(
        "product-added",
        "Query and keys were added.",
        "A dot product is a sum of products.",
        _product(lambda q, k: (q + k) / len(q) ** 0.5),
    ),
    Mistake(
        "product-keys",
        "The keys were multiplied with themselves.",
        "One factor is the query.",
        _product(lambda q, k: k * k / len(q) ** 0.5),
    ),
    Mistake(
        "product-divided",
        "The query was divided by the keys.",
        "A dot product is a sum of products.",
        _product(lambda q, k: q / k / len(q) ** 0.5),
    ),
    Mistake(
        "product-minus",
        "√d was subtracted from the products.",
        "A score is divided by √d, and so is each part of it.",
        _product(lambda q, k: q * k - len(q) ** 0.5),
    ),
    Mistake(
        "product-turned",
        "Rows and columns have changed places.",
        "(keys, dimensions)",
        _product(lambda q, k: (q * k).T / len(q) ** 0.5),
    ),
    Mistake(
        "product-absolute",
        "The signs are lost.",
        "A negative product lowers the score.",
        _product(lambda q, k: abs(q * k) / len(q) ** 0.5),
    ),
]


EXERCISE = Exercise(_make, mistakes=MISTAKES, framework="torch")

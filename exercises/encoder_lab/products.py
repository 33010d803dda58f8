"""Query times key, dimension by dimension."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, compare_case

from ._answers import returning
from ._arrays import normal


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for tokens, size in ((5, 9), (7, 4)):
        inputs = {"query": normal(generator, size, size=1.3), "keys": normal(generator, tokens, size, size=1.3)}
        exact = inputs["query"].astype(np.float64) * inputs["keys"].astype(np.float64)
        made.append(Case({}, inputs, expected={"products": exact / size**0.5}))
    return made


HEAD = "def products(query, keys):"
returns = returning(HEAD)
EACH = "A score is divided by √d, and so is each part of it."
DOT = "A dot product is a sum of products."

MISTAKES = [
    Mistake("M2", "The products are not scaled: their sums are not the scores.", EACH, returns("query * keys")),
    Mistake("M3", "The products are divided by d, not by its root.", "As in the attention itself.",
            returns("query * keys / len(query)")),
    Mistake("M3-keys", "The products are divided by the root of the number of tokens.",
            "d is the length of query and key.", returns("query * keys / math.sqrt(len(keys))")),
    Mistake("product-sum", "These are the scores: the sum over the dimensions was taken already.",
            "One number for every key and dimension.", returns("keys @ query / math.sqrt(len(query))")),
    Mistake("product-softmax", "A softmax was applied to the products.", "The softmax comes later, on the sums.",
            returns("(query * keys / math.sqrt(len(query))).softmax(-1)")),
    Mistake("product-added", "Query and keys were added.", DOT, returns("(query + keys) / math.sqrt(len(query))")),
    Mistake("product-keys", "The keys were multiplied with themselves.", "One factor is the query.",
            returns("keys * keys / math.sqrt(len(query))")),
    Mistake("product-divided", "The query was divided by the keys.", DOT,
            returns("query / keys / math.sqrt(len(query))")),
    Mistake("product-minus", "√d was subtracted from the products.", EACH,
            returns("query * keys - math.sqrt(len(query))")),
    Mistake("product-turned", "Rows and columns are swapped.", "(keys, dimensions)",
            returns("(query * keys / math.sqrt(len(query))).T")),
    Mistake("product-absolute", "The signs are lost.", "A negative product lowers the score.",
            returns("(query * keys).abs() / math.sqrt(len(query))")),
]  # fmt: skip

RIGHT = {
    "einsum": returns("torch.einsum('d,td->td', query, keys) / len(query) ** 0.5"),
    "query scaled": returns("keys * (query / math.sqrt(query.numel()))"),
    "loop": returns("torch.stack([query * key / math.sqrt(len(key)) for key in keys])"),
    "a list": returns("(query * keys / math.sqrt(query.size(-1))).tolist()"),
    "diagonal": returns("keys @ torch.diag(query) / query.size(0) ** 0.5"),
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="torch",
    accepted={"products-66d2fd5c": "A list of the same numbers is as right."},
    shows=("a number for every key and dimension", "their sums are the scores"),
    axes={"products": "keys, dimensions"},
)  # fmt: skip

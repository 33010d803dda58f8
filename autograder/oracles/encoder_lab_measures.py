"""References for ``2_attention_visualization.ipynb``: previous tokens, query times key, and how far tokens move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from autograder.exercise import Case, Exercise, Mistake
from autograder.oracles.attention import softmax
from autograder.oracles.encoder_lab_drawing import Wrong, draw_attention, normal

Array = np.ndarray


def _make_previous(generator: np.random.Generator) -> list[Case]:
    cases = []
    for layers, heads, tokens in ((2, 5, 7), (4, 3, 6)):
        attentions = draw_attention(generator, layers, heads, tokens, tokens)
        diagonal = np.diagonal(attentions.astype(np.float64), offset=-1, axis1=2, axis2=3)
        cases.append(Case(inputs={"attentions": attentions}, expected={"weight": diagonal.mean(-1)}))
    return cases


def _diagonal(offset: int, finish: Callable[[Array], Array]) -> Wrong:
    def answers(case: Case) -> Mapping[str, Array]:
        return {
            "weight": finish(np.diagonal(case.inputs["attentions"].astype(np.float64), offset=offset, axis1=2, axis2=3))
        }

    return answers


def _around(case: Case) -> Mapping[str, Array]:
    attentions = case.inputs["attentions"].astype(np.float64)
    n = attentions.shape[-1]
    return {"weight": attentions[:, :, np.arange(n), np.arange(n) - 1].mean(-1)}


PREVIOUS_MISTAKES = [
    Mistake(
        "previous-next",
        "That is the weight on the next token.",
        "Rows are queries: the token before stands one column to the left.",
        _diagonal(1, lambda d: d.mean(-1)),
    ),
    Mistake(
        "previous-self",
        "That is the weight of each token on itself.",
        "The diagonal is the token itself.",
        _diagonal(0, lambda d: d.mean(-1)),
    ),
    Mistake(
        "previous-two",
        "That is the weight on the token before the previous one.",
        "One column to the left of the diagonal.",
        _diagonal(-2, lambda d: d.mean(-1)),
    ),
    Mistake(
        "previous-sum",
        "The weights were added up, not averaged.",
        "A mean over the queries.",
        _diagonal(-1, lambda d: d.sum(-1)),
    ),
    Mistake(
        "previous-max",
        "That is the largest weight, not the average.",
        "A mean over the queries.",
        _diagonal(-1, lambda d: d.max(-1)),
    ),
    Mistake(
        "previous-all",
        "The sum was divided by the number of all tokens; the first one has no token before it.",
        "Average over the queries that have one.",
        _diagonal(-1, lambda d: d.sum(-1) / (d.shape[-1] + 1)),
    ),
    Mistake(
        "previous-around",
        "The first token's previous token was taken to be the last one.",
        "Average over the queries that have a token before them.",
        _around,
    ),
    Mistake(
        "previous-heads",
        "The heads were averaged too.",
        "One number for every layer and head.",
        _diagonal(-1, lambda d: d.mean((-1, -2))),
    ),
    Mistake(
        "previous-layers",
        "The layers were averaged too.",
        "One number for every layer and head.",
        _diagonal(-1, lambda d: d.mean((-1, 0))),
    ),
]


def _make_products(generator: np.random.Generator) -> list[Case]:
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


PRODUCT_MISTAKES = [
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


def _make_moved(generator: np.random.Generator) -> list[Case]:
    cases = []
    for layers, tokens, size in ((3, 6, 5), (4, 5, 7)):
        order = _cycle(generator, tokens)
        original = normal(generator, layers, tokens, size)
        mixed = original[:, order] + normal(generator, layers, tokens, size, size=0.5)
        exact = np.linalg.norm(original[:, order].astype(np.float64) - mixed.astype(np.float64), axis=-1).mean(-1)
        inputs = {"original": original, "shuffled": mixed, "order": np.array(order)}
        cases.append(Case(inputs=inputs, expected={"moved": exact}))
    return cases


def _cycle(generator: np.random.Generator, tokens: int) -> Sequence[int]:
    """An order that is not its own inverse, so that going back and forth are two things."""
    while True:
        order = generator.permutation(tokens)
        if not np.array_equal(order[order], np.arange(tokens)):
            return [int(place) for place in order]


def _moved(measure: Callable[[Array], Array], forth: bool | None = True) -> Wrong:
    def answers(case: Case) -> Mapping[str, Array]:
        original, mixed, order = (case.inputs[name] for name in ("original", "shuffled", "order"))
        original, mixed = original.astype(np.float64), mixed.astype(np.float64)
        difference = (
            original - mixed if forth is None else original[:, order] - mixed if forth else original - mixed[:, order]
        )
        return {"moved": measure(difference)}

    return answers


def _length(difference: Array) -> Array:
    return np.linalg.norm(difference, axis=-1)


MOVED_MISTAKES = [
    Mistake(
        "moved-places",
        "Places were compared, not tokens: at place i stand two different words now.",
        "Which token of the original is token i of the shuffled sentence?",
        _moved(lambda d: _length(d).mean(-1), None),
    ),
    Mistake(
        "moved-back",
        "The order was applied in the wrong direction.",
        "Token i of the shuffled sentence is token order[i] of the original.",
        _moved(lambda d: _length(d).mean(-1), False),
    ),
    Mistake(
        "moved-sum",
        "The distances were added up, not averaged over the tokens.",
        "A mean over the tokens.",
        _moved(lambda d: _length(d).sum(-1)),
    ),
    Mistake(
        "moved-max",
        "That is the token that moved farthest.",
        "A mean over the tokens.",
        _moved(lambda d: _length(d).max(-1)),
    ),
    Mistake(
        "moved-square",
        "The root is missing: these are squared distances.",
        "The length of a difference is its norm.",
        _moved(lambda d: (d**2).sum(-1).mean(-1)),
    ),
    Mistake(
        "moved-whole",
        "All tokens were taken for one long vector.",
        "A distance for each token, then their mean.",
        _moved(lambda d: np.linalg.norm(d.reshape(len(d), -1), axis=-1)),
    ),
    Mistake(
        "moved-signed",
        "Differences were averaged with their signs: they cancel.",
        "The length of a difference is its norm.",
        _moved(lambda d: d.mean((1, 2))),
    ),
    Mistake(
        "moved-absolute",
        "That is the mean size of a single number's difference.",
        "The length of a difference is its norm.",
        _moved(lambda d: abs(d).mean((1, 2))),
    ),
    Mistake(
        "moved-layers",
        "The layers were averaged, not the tokens.",
        "One number for every layer.",
        _moved(lambda d: _length(d).mean(0)),
    ),
]


EXERCISES = [
    Exercise(_make_previous, mistakes=PREVIOUS_MISTAKES, framework="torch", slug="encoder_lab/previous_token"),
    Exercise(_make_products, mistakes=PRODUCT_MISTAKES, framework="torch", slug="encoder_lab/products"),
    Exercise(_make_moved, mistakes=MOVED_MISTAKES, framework="torch", slug="encoder_lab/moved"),
]

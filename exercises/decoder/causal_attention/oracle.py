"""Masked attention: torch's own function in float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from .._decoder import AttentionVariant, attend

Array = np.ndarray
SCALE = "query @ keyᵀ / √dim_per_head"
HIDE = "What must a score be, for the softmax to make exactly 0 of it?"


def make(generator: np.random.Generator) -> list[Case]:
    import torch
    from torch.nn import functional as F

    cases = []
    for shape, size in (((2, 3, 5, 4), 1.2), ((3, 2, 7, 6), 1.2), ((2, 2, 3, 5), 30.0)):
        query, key, value = (generator.normal(0, spread, shape).astype(np.float32) for spread in (size, 1.2, 1.0))
        double = (torch.from_numpy(x.astype(np.float64)) for x in (query, key, value))
        output = F.scaled_dot_product_attention(*double, is_causal=True).numpy()
        cases.append(Case({}, {"query": query, "key": key, "value": value}, expected={"output": output}))
    return cases


def _by(variant: AttentionVariant) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {"output": attend(*(case.inputs[name] for name in ("query", "key", "value")), variant)}


def _all(n: int) -> Array:
    return np.ones((n, n), dtype=bool)


def _upper(n: int) -> Array:
    return ~np.tri(n, k=-1, dtype=bool)


def _before(n: int) -> Array:
    return np.tri(n, k=-1, dtype=bool)


def _next(n: int) -> Array:
    return np.tri(n, k=1, dtype=bool)


MISTAKES = [
    Mistake("D1-open", "Every token sees all others: nothing is masked.", "Token i may see tokens 0 to i.",
            _by(AttentionVariant(visible=_all))),
    Mistake("D1-turned", "The triangle is turned round: each token sees itself and later ones.",
            "Row i of the scores belongs to query i.", _by(AttentionVariant(visible=_upper))),
    Mistake("D1-next", "Each token sees one token too many: the next one.", "Where does the triangle end?",
            _by(AttentionVariant(visible=_next))),
    Mistake("D1-self", "A token does not see itself, and so the first one sees nothing.",
            "The diagonal belongs to what is seen.", _by(AttentionVariant(visible=_before))),
    Mistake("D1-zero", "Hidden scores became 0, and still get weight.", HIDE, _by(AttentionVariant(hidden=0.0))),
    Mistake("D1-late", "The mask came after the softmax: the weights that are left no longer sum to 1.",
            "Hide the scores, then take the softmax.", _by(AttentionVariant(late=True))),
    Mistake("D1-unscaled", "The scores are not divided by √dim_per_head.", SCALE,
            _by(AttentionVariant(scale=lambda n, d: 1.0))),
    Mistake("D1-whole", "The scores are divided by dim_per_head, not by its root.", SCALE,
            _by(AttentionVariant(scale=lambda n, d: float(d)))),
    Mistake("D1-times", "The scores are multiplied by √dim_per_head.", SCALE,
            _by(AttentionVariant(scale=lambda n, d: d**-0.5))),
    Mistake("D1-tokens", "The scores are divided by the root of the number of tokens.", SCALE,
            _by(AttentionVariant(scale=lambda n, d: n**0.5))),
    Mistake("D1-queries", "The softmax runs over the queries.", "Each query's weights sum to 1 over the keys.",
            _by(AttentionVariant(axis=-2))),
    Mistake("D1-softmax", "No softmax was applied: the values are mixed by the scores themselves.",
            "Scores, mask, softmax, weighted sum.", _by(AttentionVariant(weigh=False))),
    Mistake("D1-transposed", "The weights were transposed before they met the values.",
            "Row i of the weights belongs to query i.", _by(AttentionVariant(transposed=True))),
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")

"""Each head's average weight on the token before."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._arrays import Wrong, draw_attention

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
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


MISTAKES = [
    Mistake(
        "previous-next",
        "That is the weight on the next token.",
        "Rows are queries: the token before is one column to the left.",
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


EXERCISE = Exercise(_make, mistakes=MISTAKES, framework="torch")

"""The attention weights of every layer, averaged over the heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for layers, heads, tokens in ((4, 3, 6), (2, 5, 7)):
        stored = generator.dirichlet(np.full(tokens, 0.5), (layers, 1, heads, tokens)).astype(np.float32)
        expected = {"attention_per_layer": stored.astype(np.float64).mean(axis=2)[:, 0]}
        cases.append(Case({"n_layers": layers}, {"attention_probs": stored}, expected=expected))
    return cases


def _averaged(change: Callable[[Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {"attention_per_layer": change(case.inputs["attention_probs"].astype(np.float64))}


MISTAKES = [
    Mistake(
        "M17-axis",
        "The average runs over the queries, not over the heads.",
        "(batch, heads, queries, keys): the heads are axis 1.",
        _averaged(lambda a: a.mean(3)[:, 0]),
    ),
    Mistake(
        "M17-batch",
        "The batch axis is still there.",
        "One sentence: (n_layers, tokens, tokens).",
        _averaged(lambda a: a.mean(2)),
    ),
    Mistake(
        "M17-layers",
        "The average runs over the layers: one matrix per head came out.",
        "Layers stay apart, heads are averaged.",
        _averaged(lambda a: a.mean(0)[0]),
    ),
    Mistake("M17-head", "This is the first head alone.", "Average over all heads.", _averaged(lambda a: a[:, 0, 0])),
    Mistake(
        "M17-sum",
        "The heads were added up, not averaged: the rows no longer sum to 1.",
        "A mean, not a sum.",
        _averaged(lambda a: a.sum(2)[:, 0]),
    ),
    Mistake(
        "M17-max",
        "This is the largest weight over the heads, not the average.",
        "A mean, not a maximum.",
        _averaged(lambda a: a.max(2)[:, 0]),
    ),
    Mistake(
        "M17-transposed",
        "Queries and keys have changed places: the columns sum to 1.",
        "Keep the last two axes in their order.",
        _averaged(lambda a: a.mean(2)[:, 0].swapaxes(1, 2)),
    ),
    Mistake(
        "M17-all",
        "Heads and layers were all averaged into one matrix.",
        "Layers stay apart.",
        _averaged(lambda a: a.mean((0, 2))[0]),
    ),
    SIDE_EFFECTS[0],
]

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")

"""How far the tokens' vectors are from where they were, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._arrays import Wrong, normal

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
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


def _mean_length(of: Callable[[Array, Array], Array]) -> Wrong:
    """The mean length of something else than the difference, made of each token's vector before and after."""

    def answers(case: Case) -> Mapping[str, Array]:
        before = case.inputs["original"][:, case.inputs["order"]].astype(np.float64)
        return {"moved": _length(of(before, case.inputs["shuffled"].astype(np.float64))).mean(-1)}

    return answers


def _length(difference: Array) -> Array:
    return np.linalg.norm(difference, axis=-1)


def _with_itself(case: Case, name: str) -> Mapping[str, Array]:
    vectors = case.inputs[name].astype(np.float64)
    return {"moved": _length(vectors[:, case.inputs["order"]] - vectors).mean(-1)}


MISTAKES = [
    Mistake(
        "moved-places",
        "Places were compared, not tokens: there are two different words at place i now.",
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
    Mistake(
        "moved-added",
        "The two vectors of a token were added.",
        "How far one is from the other: the length of their difference.",
        _mean_length(lambda before, after: before + after),
    ),
    Mistake(
        "moved-original",
        "These are the lengths of the original vectors: nothing was subtracted.",
        "How far one is from the other: the length of their difference.",
        _mean_length(lambda before, after: before),
    ),
    Mistake(
        "moved-shuffled",
        "These are the lengths of the shuffled sentence's vectors: nothing was subtracted.",
        "How far one is from the other: the length of their difference.",
        _mean_length(lambda before, after: after),
    ),
    Mistake(
        "moved-itself",
        "A sentence was compared with itself in another order.",
        "original and shuffled are two results: each stands once in the difference.",
        lambda case: _with_itself(case, "original"),
    ),
    Mistake(
        "moved-itself-shuffled",
        "The shuffled sentence was compared with itself in another order.",
        "original and shuffled are two results: each stands once in the difference.",
        lambda case: _with_itself(case, "shuffled"),
    ),
    Mistake(
        "moved-columns",
        "The lengths were taken along the tokens.",
        "A token's vector lies along the last axis.",
        _moved(lambda d: np.linalg.norm(d, axis=1).mean(-1)),
    ),
]


EXERCISE = Exercise(_make, mistakes=MISTAKES, framework="torch")

"""Bigram probabilities, counted with the standard library."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

Array = np.ndarray
PLUS = "Every pair gets one count more than it has."


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for words, vocabulary in ((60, 7), (25, 5), (9, 11)):
        chances = generator.dirichlet(np.full(vocabulary, 0.7))
        ids = generator.choice(vocabulary, words, p=chances)
        ids[:4] = (1, 3, 3, 1)  # a word after itself, and a last word that others have followed
        ids[-2:] = (0, 3)
        counts = Counter(pairwise(ids.tolist()))
        rows = [[counts[first, then] + 1 for then in range(vocabulary)] for first in range(vocabulary)]
        logs = [[math.log(count / sum(row)) for count in row] for row in rows]
        cases.append(Case({"vocabulary": vocabulary}, {"input_ids": ids}, expected={"logs": np.array(logs)}))
    return cases


def _counts(case: Case, pairs: Callable[[Array], tuple[Array, Array]] = lambda ids: (ids[:-1], ids[1:])) -> Array:
    size = case.config["vocabulary"]
    counts = np.zeros((size, size))
    np.add.at(counts, pairs(case.inputs["input_ids"]), 1)
    return counts


def _by(compute: Callable[[Array], Array], **how: Callable[[Array], tuple[Array, Array]]) -> Callable[
    [Case], Mapping[str, Array]
]:  # fmt: skip
    def answers(case: Case) -> Mapping[str, Array]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return {"logs": compute(_counts(case, **how))}

    return answers


def _logs(counts: Array) -> Array:
    plus = counts + 1
    return np.log(plus / plus.sum(1, keepdims=True))


MISTAKES = [
    Mistake("D5-turned", "Rows and columns have changed places.", "Row: the word before; column: the next one.",
            _by(lambda n: _logs(n.T))),
    Mistake("D5-columns", "The columns sum to 1, not the rows.", "After each word, the next words share 1.",
            _by(lambda n: np.log((n + 1) / (n + 1).sum(0)))),
    Mistake("D5-whole", "The whole table sums to 1, not each row.", "After each word, the next words share 1.",
            _by(lambda n: np.log((n + 1) / (n + 1).sum()))),
    Mistake("D5-zero", "Pairs that were never seen get the probability 0.", PLUS,
            _by(lambda n: np.log(n / n.sum(1, keepdims=True)))),
    Mistake("D5-seen", "Pairs that were never seen get no count of their own.", PLUS,
            _by(lambda n: np.log(np.maximum(n, 1) / np.maximum(n, 1).sum(1, keepdims=True)))),
    Mistake("D5-divided", "The counts grew by one each, but the sum that they are divided by did not.", PLUS,
            _by(lambda n: np.log((n + 1) / n.sum(1, keepdims=True)))),
    Mistake("D5-plus-one", "The sum grew by 1, not by 1 for each word.", PLUS,
            _by(lambda n: np.log((n + 1) / (n.sum(1, keepdims=True) + 1)))),
    Mistake("D5-exp", "These are probabilities.", "Their logarithms are asked for.", _by(lambda n: np.exp(_logs(n)))),
    Mistake("D5-counts", "These are counts.", "Divide by the row's sum, then take the logarithm.",
            _by(lambda n: n + 1)),
    Mistake("D5-softmax", "A softmax of the counts gives other probabilities.", "Count over the row's sum.",
            _by(lambda n: n - np.log(np.exp(n).sum(1, keepdims=True)))),
    Mistake("D5-base", "The logarithm has base 2.", "The natural one.", _by(lambda n: _logs(n) / np.log(2))),
    Mistake("D5-once", "A pair counts once, however often it is there.", "index_put_ with accumulate=True, or a loop.",
            _by(lambda n: _logs(np.minimum(n, 1)))),
    Mistake("D5-round", "The last word is followed by the first one.", "n words have n - 1 pairs.",
            _by(_logs, pairs=lambda ids: (ids, np.roll(ids, -1)))),
    Mistake("D5-gap", "The pairs have a word between them.", "Neighbours.",
            _by(_logs, pairs=lambda ids: (ids[:-2], ids[2:]))),
    Mistake("D5-same", "Each word is paired with itself.", "The next word is one place further on.",
            _by(_logs, pairs=lambda ids: (ids, ids))),
    *SIDE_EFFECTS[:1],
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")

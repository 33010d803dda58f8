"""How much of each head's weight goes to [SEP]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._arrays import Wrong, draw_attention

Array = np.ndarray
WORDS = ["the", "old", "bank", "river", "sees", "a", "man", "dog", "walk"]


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for heads, a, b in ((5, 3, 4), (4, 5, 2)):
        words = [str(word) for word in generator.choice(WORDS, a + b, replace=False)]
        tokens = ["[CLS]", *words[:a], "[SEP]", *words[a:], "[SEP]"]
        cases.append(_case(tokens, draw_attention(generator, heads, len(tokens), len(tokens))))
    cases.append(_three(generator))
    return cases


def _three(generator: np.random.Generator) -> Case:
    """Three [SEP], none of them at the end, and fewer queries than keys."""
    words = [str(word) for word in generator.choice(WORDS, 6, replace=False)]
    tokens = ["[CLS]", *words[:2], "[SEP]", *words[2:4], "[SEP]", words[4], "[SEP]", words[5]]
    return _case(tokens, draw_attention(generator, 3, 4, len(tokens)))


def _case(tokens: list[str], attention: Array) -> Case:
    places = [i for i, token in enumerate(tokens) if token == "[SEP]"]
    expected = {"share": attention.astype(np.float64)[:, :, places].sum(-1).mean(-1)}
    return Case({}, {"attention": attention, "places": np.array(places)}, {}, {"tokens": tokens}, expected)


def _share(measure: Callable[[Array, Array], Array]) -> Wrong:
    return lambda case: {"share": measure(case.inputs["attention"].astype(np.float64), case.inputs["places"])}


MISTAKES = [
    Mistake(
        "share-first",
        "Only the first [SEP] was counted.",
        "A sentence may have several of them.",
        _share(lambda a, at: a[:, :, at[0]].mean(-1)),
    ),
    Mistake(
        "share-last",
        "Only the last [SEP] was counted.",
        "A sentence may have several of them.",
        _share(lambda a, at: a[:, :, at[-1]].mean(-1)),
    ),
    Mistake(
        "share-keys",
        "The sum over the queries was divided by the number of tokens: that is the number of keys.",
        "A mean over the queries.",
        _share(lambda a, at: a[:, :, at].sum((1, 2)) / a.shape[2]),
    ),
    Mistake(
        "share-end",
        "The first and the last token that is [SEP] were counted, and none between them.",
        "A sentence may have several of them.",
        _share(lambda a, at: a[:, :, [at[0], at[-1]]].sum(-1).mean(-1)),
    ),
    Mistake(
        "share-rows",
        "That is what [SEP] attends to, not who attends to [SEP].",
        "Rows are queries, columns are keys.",
        _share(lambda a, at: a[:, at[at < a.shape[1]]].sum(1).mean(-1)),
    ),
    Mistake(
        "share-mean",
        "The weights on the [SEP] were averaged, not added.",
        "A query's weight on [SEP] is what all of them get together.",
        _share(lambda a, at: a[:, :, at].mean(-1).mean(-1)),
    ),
    Mistake(
        "share-sum",
        "The queries were added up, not averaged: a share is at most 1.",
        "A mean over the queries.",
        _share(lambda a, at: a[:, :, at].sum(-1).sum(-1)),
    ),
    Mistake(
        "share-max",
        "That is the largest weight on [SEP], not the average.",
        "A mean over the queries.",
        _share(lambda a, at: a[:, :, at].sum(-1).max(-1)),
    ),
    Mistake(
        "share-cls",
        "That is the weight on [CLS].",
        "Which columns belong to the token?",
        _share(lambda a, at: a[:, :, 0].mean(-1)),
    ),
    Mistake(
        "share-others",
        "That is the weight on everything but [SEP].",
        "Which columns belong to the token?",
        _share(lambda a, at: 1 - a[:, :, at].sum(-1).mean(-1)),
    ),
    Mistake(
        "share-heads",
        "The average runs over the heads: one number a query came out.",
        "One number a head.",
        _share(lambda a, at: a[:, :, at].sum(-1).mean(0)),
    ),
]


EXERCISE = Exercise(_make, mistakes=MISTAKES, framework="torch")

"""References for ``2_attention_visualization.ipynb``: two sentences, and which heads attend to [SEP]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case
from autograder.oracles.encoder_lab_drawing import Wrong, draw_attention
from autograder.oracles.encoder_lab_questions import stored, stored_tokens

Array = np.ndarray
WORDS = ["the", "old", "bank", "river", "sees", "a", "man", "dog", "walk"]


def _make_start(generator: np.random.Generator) -> list[Case]:
    cases = []
    for first, second in ((7, 9), (4, 10), (11, 3)):
        types = np.array([[0] * first + [1] * second])
        cases.append(
            Case({"first": first, "second": second}, {"token_type_ids": types}, expected={"start": np.array(first)})
        )
    return cases


def _start(value: Callable[[int, int], int]) -> Wrong:
    return lambda case: {"start": np.array(value(int(case.config["first"]), int(case.config["second"])))}


START_MISTAKES = [
    Mistake(
        "start-sep",
        "That is the position of the first [SEP]: it still belongs to the first sentence.",
        "The second sentence begins right behind it.",
        _start(lambda a, b: a - 1),
    ),
    Mistake(
        "start-next",
        "That is one too far: positions count from 0.",
        "As many tokens as stand before it.",
        _start(lambda a, b: a + 1),
    ),
    Mistake(
        "start-second",
        "That is the length of the second sentence.",
        "Count the tokens of the first one.",
        _start(lambda a, b: b),
    ),
    Mistake(
        "start-all",
        "That is the length of both sentences together.",
        "Count the tokens of the first one.",
        _start(lambda a, b: a + b),
    ),
    Mistake(
        "start-words",
        "[CLS] and [SEP] were not counted.",
        "They are tokens like the others.",
        _start(lambda a, b: a - 2),
    ),
    Mistake(
        "start-zero",
        "That is where the first sentence begins.",
        "token_type_ids tells the two apart.",
        _start(lambda a, b: 0),
    ),
    Mistake(
        "start-one",
        "That is the first sentence's first word, or the number of 0s in one column.",
        "Which axis are the tokens?",
        _start(lambda a, b: 1),
    ),
]


def _make_share(generator: np.random.Generator) -> list[Case]:
    cases = []
    for heads, a, b in ((5, 3, 4), (4, 5, 2)):
        words = [str(word) for word in generator.choice(WORDS, a + b, replace=False)]
        tokens = ["[CLS]", *words[:a], "[SEP]", *words[a:], "[SEP]"]
        attention = draw_attention(generator, heads, len(tokens), len(tokens))
        places = [i for i, token in enumerate(tokens) if token == "[SEP]"]
        expected = {"share": attention.astype(np.float64)[:, :, places].sum(-1).mean(-1)}
        cases.append(Case({}, {"attention": attention, "places": np.array(places)}, {}, {"tokens": tokens}, expected))
    return cases


def _share(measure: Callable[[Array, Array], Array]) -> Wrong:
    return lambda case: {"share": measure(case.inputs["attention"].astype(np.float64), case.inputs["places"])}


SHARE_MISTAKES = [
    Mistake(
        "share-first",
        "Only the first [SEP] was counted.",
        "There are two of them.",
        _share(lambda a, at: a[:, :, at[0]].mean(-1)),
    ),
    Mistake(
        "share-last",
        "Only the last [SEP] was counted.",
        "There are two of them.",
        _share(lambda a, at: a[:, :, at[-1]].mean(-1)),
    ),
    Mistake(
        "share-rows",
        "That is what [SEP] attends to, not who attends to [SEP].",
        "Rows are queries, columns are keys.",
        _share(lambda a, at: a[:, at].sum(1).mean(-1)),
    ),
    Mistake(
        "share-mean",
        "The weights on the two [SEP] were averaged, not added.",
        "A query's weight on [SEP] is what both get together.",
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


def _stored_share() -> Array:
    """(layers, heads): the stored weight on [SEP]"""
    places = [i for i, token in enumerate(stored_tokens()) if token == "[SEP]"]
    return stored("attentions")[..., places].sum(-1).mean(-1)


def _make_heads(generator: np.random.Generator) -> list[Case]:
    return [Case(expected={"heads": _stored_share().argmax(-1)})]


def judge_heads(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Right, or right by the student's own wrong shares, where those lost points."""
    judgement = compare_case(exercise, case, answers)
    heads, own = answers.arrays.get("heads"), answers.arrays.get("own_share")
    if judgement.earned == 1 or not answers.charged("encoder_lab/separator_share"):
        return judgement
    if heads is None or own is None or own.shape != _stored_share().shape:
        return judgement
    if np.isfinite(own).all() and float(np.ptp(own, axis=-1).min()) > 0 and np.array_equal(heads, own.argmax(-1)):
        return Judgement([Check("heads", True)])
    return judgement


def _heads(value: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"heads": value(_stored_share())}


HEADS_MISTAKES = [
    Mistake(
        "heads-least",
        "These are the heads that attend to [SEP] least.",
        "The largest share.",
        _heads(lambda s: s.argmin(-1)),
    ),
    Mistake(
        "heads-from-one",
        "The heads were counted from 1.",
        "The first head is head 0.",
        _heads(lambda s: s.argmax(-1) + 1),
    ),
    Mistake(
        "heads-layers",
        "For each head the layer was looked for.",
        "One head for each layer: six numbers.",
        _heads(lambda s: s.argmax(0)),
    ),
    Mistake(
        "heads-flat",
        "That is one head of all 72.",
        "One head for each layer: six numbers.",
        _heads(lambda s: np.array(s.argmax())),
    ),
    Mistake(
        "heads-second",
        "These are the heads with the second largest share.",
        "The largest share.",
        _heads(lambda s: s.argsort(-1)[:, -2]),
    ),
    Mistake(
        "heads-one-layer",
        "Every layer got the answer of layer 0.",
        "Look at each layer by itself.",
        _heads(lambda s: np.full(len(s), s[0].argmax())),
    ),
    Mistake(
        "heads-reversed", "The layers stand in reverse order.", "Layer 0 first.", _heads(lambda s: s.argmax(-1)[::-1])
    ),
]


EXERCISES = [
    Exercise(_make_start, mistakes=START_MISTAKES, framework="torch", slug="encoder_lab/sentence_b_start"),
    Exercise(_make_share, mistakes=SHARE_MISTAKES, framework="torch", slug="encoder_lab/separator_share"),
    Exercise(_make_heads, judge_heads, HEADS_MISTAKES, framework="torch", slug="encoder_lab/separator_heads"),
]

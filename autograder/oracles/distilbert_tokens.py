"""References for reading attention: ids to tokens, and the average over the heads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files

import numpy as np

from autograder.exercise import TEXT, Answers, Case, Exercise, Judgement, Mistake, compare_case, text_array
from autograder.oracles.distilbert_pretrained import SENTENCES
from autograder.oracles.judgements import named

Array = np.ndarray

# --- ids to tokens ----------------------------------------------------------------------------------------------------


def words_of(ids: list[int]) -> list[str]:
    """Asks the vocabulary itself, not the tokenizer's class."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(files("course") / "checkpoints" / "mini" / "tokenizer.json"))
    return [str(tokenizer.id_to_token(token)) for token in ids]


def _make_tokens(generator: np.random.Generator) -> list[Case]:
    drawn = [101, 102]
    while not any(word.startswith("##") for word in words_of(drawn)):  # pieces of words tell how their marks are kept
        drawn = [101, *generator.integers(2000, 29000, 6).tolist(), 102]
    return [
        Case({}, {"input_ids": np.array([ids])}, expected={TEXT + "tokens": text_array(words_of(ids))})
        for ids in (SENTENCES[1], drawn)
    ]


def _expected(case: Case) -> list[str]:
    words: list[str] = json.loads(case.expected[TEXT + "tokens"].tobytes().decode())
    return words


TOKEN_MISTAKES = [
    Mistake(
        "M17-nested",
        "The tokens are wrapped in one list too many.",
        "input_ids has a batch axis; a sentence is one row of it.",
        lambda case: {TEXT + "tokens": text_array([_expected(case)])},
    ),
    Mistake(
        "M17-special",
        "[CLS] and [SEP] are missing.",
        "They are tokens like the others: every id has its token.",
        lambda case: {TEXT + "tokens": text_array([w for w in _expected(case) if w not in ("[CLS]", "[SEP]")])},
    ),
    Mistake(
        "M17-sentence",
        "This is one sentence; what is asked for is a list with one token per id.",
        "Decoding joins the word pieces; look for a method that converts ids one by one.",
        lambda case: {TEXT + "tokens": text_array(" ".join(_expected(case)))},
    ),
]


def judge_tokens(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    judgement = compare_case(exercise, case, answers)
    said = answers.text("tokens")
    if judgement.earned < 1 and isinstance(said, str):
        wrong = TOKEN_MISTAKES[2]
        return named(wrong.id, wrong.message, wrong.hint)
    return judgement


# --- head average -----------------------------------------------------------------------------------------------------


def _make_average(generator: np.random.Generator) -> list[Case]:
    cases = []
    for layers, heads, tokens in ((4, 3, 6), (2, 5, 7)):
        stored = generator.dirichlet(np.full(tokens, 0.5), (layers, 1, heads, tokens)).astype(np.float32)
        expected = {"attention_per_layer": stored.astype(np.float64).mean(axis=2)[:, 0]}
        cases.append(Case({"n_layers": layers}, {"attention_probs": stored}, expected=expected))
    return cases


def _averaged(change: Callable[[Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {"attention_per_layer": change(case.inputs["attention_probs"].astype(np.float64))}


AVERAGE_MISTAKES = [
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
]

EXERCISES = [
    Exercise(_make_tokens, judge_tokens, TOKEN_MISTAKES, framework="torch", slug="distilbert/tokens"),
    Exercise(_make_average, mistakes=AVERAGE_MISTAKES, framework="torch", slug="distilbert/head_average"),
]

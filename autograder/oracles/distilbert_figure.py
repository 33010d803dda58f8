"""References for the attention notebook: ids to tokens, head average, and the data behind the figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files

import numpy as np
from tokenizers import Tokenizer

from autograder.compare import compare_case
from autograder.exercise import TEXT, Answers, Case, Exercise, Judgement, Mistake, text_array
from autograder.oracles.distilbert_model import SENTENCES
from autograder.verdict import Check

Array = np.ndarray

# --- ids to tokens ----------------------------------------------------------------------------------------------------


def _words(ids: list[int]) -> list[str]:
    """Asks the vocabulary itself, not the tokenizer's class."""
    tokenizer = Tokenizer.from_file(str(files("course") / "checkpoints" / "mini" / "tokenizer.json"))
    return [str(tokenizer.id_to_token(token)) for token in ids]


def _make_tokens(generator: np.random.Generator) -> list[Case]:
    drawn = [101, *generator.integers(2000, 29000, 6).tolist(), 102]
    return [
        Case({}, {"input_ids": np.array([ids])}, expected={TEXT + "tokens": text_array(_words(ids))})
        for ids in (SENTENCES[1], drawn)
    ]


def _ids(case: Case) -> list[int]:
    return [int(token) for token in case.inputs["input_ids"][0]]


TOKEN_MISTAKES = [
    Mistake(
        "M17-nested",
        "The tokens are wrapped in one list too many.",
        "input_ids has a batch axis; a sentence is one row of it.",
        lambda case: {TEXT + "tokens": text_array([_words(_ids(case))])},
    ),
    Mistake(
        "M17-special",
        "[CLS] and [SEP] are missing.",
        "They are tokens like the others: every id has its token.",
        lambda case: {TEXT + "tokens": text_array([w for w in _words(_ids(case)) if w not in ("[CLS]", "[SEP]")])},
    ),
    Mistake(
        "M17-sentence",
        "This is one sentence; what is asked for is a list with one token per id.",
        "Decoding joins the word pieces; look for a method that converts ids one by one.",
        lambda case: {TEXT + "tokens": text_array(" ".join(_words(_ids(case))))},
    ),
]


def _text_mistake(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    judgement = compare_case(exercise, case, answers)
    said = answers.text("tokens")
    if judgement.earned < 1 and isinstance(said, str):
        wrong = TOKEN_MISTAKES[2]
        return Judgement([Check(wrong.id, False, wrong.message, wrong.hint, wrong.id)])
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

# --- figure -----------------------------------------------------------------------------------------------------------


def _make_figure(generator: np.random.Generator) -> list[Case]:
    cases = []
    for layers, ids in ((4, SENTENCES[1]), (6, SENTENCES[0])):
        tokens = len(ids)
        stored = generator.dirichlet(np.full(tokens, 0.5), (layers, tokens)).astype(np.float32)
        cases.append(
            Case(
                {"n_layers": layers},
                {"attention_per_layer": stored},
                {},
                {"tokens": _words(ids)},
                {"panels": stored.astype(np.float64)},
            )
        )
    return cases


def judge_figure(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Panels and values first; then the words: titles with the layer, axes named, a tick per token."""
    panels, want = answers.arrays.get("panels"), case.expected["panels"]
    tokens = list(case.texts["tokens"])
    if panels is None or panels.ndim != 3 or len(panels) != len(want):
        count = 0 if panels is None or panels.ndim != 3 else len(panels)
        return Judgement(
            [
                Check(
                    "panels",
                    False,
                    f"Expected one panel for each of the {len(want)} layers; {count} came.",
                    "Each panel is an axes with one image (imshow, matshow or pcolormesh).",
                )
            ]
        )
    if panels.shape == want.shape and np.allclose(panels, want.swapaxes(1, 2), atol=1e-5):
        return Judgement(
            [
                Check(
                    "M17-axes",
                    False,
                    "Queries and keys have changed places in the picture.",
                    "Rows (y) are the queries, columns (x) the keys: no transposition is needed.",
                    "M17-axes",
                )
            ]
        )
    if panels.shape == want.shape and np.allclose(panels, want[::-1], atol=1e-5):
        return Judgement(
            [
                Check(
                    "M17-order",
                    False,
                    "The panels stand in reverse order.",
                    "Layer by layer, the first first.",
                    "M17-order",
                )
            ]
        )
    if panels.shape == want.shape and all(np.allclose(panel, want[0], atol=1e-5) for panel in panels):
        return Judgement(
            [
                Check(
                    "M17-same",
                    False,
                    "Every panel shows the first layer.",
                    "Inside the loop, take the loop's own layer.",
                    "M17-same",
                )
            ]
        )
    if panels.shape != want.shape or not np.allclose(panels, want, atol=1e-5):
        return Judgement(
            [
                Check(
                    "values",
                    False,
                    "The pictures do not show the attention per layer.",
                    "Panel i shows attention_per_layer[i] as it is.",
                )
            ]
        )
    return Judgement([Check("panels", True), *_words_of_figure(answers, tokens, len(want))])


def _words_of_figure(answers: Answers, tokens: list[str], layers: int) -> list[Check]:
    def each(name: str) -> list[str]:
        value = answers.text(name)
        return [str(entry) for entry in value] if isinstance(value, list) else []

    def ticks(name: str) -> bool:
        value = answers.text(name)
        # where panels share an axis, matplotlib labels the outer ones alone
        return (
            isinstance(value, list)
            and any(entry == tokens for entry in value)
            and all(entry in (tokens, [""] * len(tokens), []) for entry in value)
        )

    titles = each("titles")
    numbered = any([str(i + start) in title for i, title in enumerate(titles)] == [True] * layers for start in (0, 1))
    named_x = any("key" in label.lower() for label in each("xlabels"))
    named_y = any("quer" in label.lower() for label in each("ylabels"))
    swapped = any("quer" in label.lower() for label in each("xlabels"))
    return [
        Check("titles", numbered, "Each panel's title says which layer it shows.", 'set_title(f"layer {i}"), say.'),
        Check(
            "M17-labels" if swapped else "axes",
            named_x and named_y,
            "The axis labels are exchanged: x are the keys, y the queries."
            if swapped
            else "The axes are not named: x are the keys, y the queries.",
            "set_xlabel and set_ylabel, with these two words.",
            "M17-labels" if swapped else "",
        ),
        Check(
            "ticks",
            ticks("xticks") and ticks("yticks"),
            "The ticks of both axes are the tokens, one for each.",
            "set_xticks(range(len(tokens)), tokens), and the same for y.",
        ),
    ]


EXERCISES = [
    Exercise("distilbert/tokens", _make_tokens, _text_mistake, TOKEN_MISTAKES),
    Exercise("distilbert/head_average", _make_average, mistakes=AVERAGE_MISTAKES),
    Exercise("distilbert/figure", _make_figure, judge_figure),
]

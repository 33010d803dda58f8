"""References for the attention figure: the data behind it, panel by panel, and the words on it."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement
from autograder.oracles.distilbert_pretrained import SENTENCES
from autograder.oracles.distilbert_tokens import words_of
from autograder.oracles.judgements import named, wrong

Array = np.ndarray


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
                {"tokens": words_of(ids)},
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
        return wrong(
            "panels",
            f"Expected one panel for each of the {len(want)} layers; {count} came.",
            "Each panel is an axes with one image (imshow, matshow or pcolormesh).",
        )
    if panels.shape == want.shape and np.allclose(panels, want.swapaxes(1, 2), atol=1e-5):
        return named(
            "M17-axes",
            "Queries and keys have changed places in the picture.",
            "Rows (y) are the queries, columns (x) the keys: no transposition is needed.",
        )
    if panels.shape == want.shape and np.allclose(panels, want[::-1], atol=1e-5):
        return named("M17-order", "The panels stand in reverse order.", "Layer by layer, the first first.")
    if panels.shape == want.shape and any(np.allclose(panels, layer, atol=1e-5) for layer in want):
        return named(
            "M17-same", "Every panel shows one and the same layer.", "Inside the loop, take the loop's own layer."
        )
    if panels.shape != want.shape or not np.allclose(panels, want, atol=1e-5):
        return wrong(
            "values",
            "The pictures do not show the attention per layer.",
            "Panel i shows attention_per_layer[i] as it is.",
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


EXERCISE = Exercise(_make_figure, judge_figure, framework="torch", slug="distilbert/figure")

"""The attention figure: the data behind it, panel by panel, and the text on it."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, named, wrong

from .._sentences import SENTENCES, tokens_of

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for layers, ids in ((4, SENTENCES[1]), (6, SENTENCES[0]), (3, SENTENCES[1])):
        tokens = len(ids)
        stored = generator.dirichlet(np.full(tokens, 0.5), (layers, tokens)).astype(np.float32)
        cases.append(
            Case(
                {"n_layers": layers},
                {"attention_per_layer": stored},
                {},
                {"tokens": tokens_of(ids)},
                {"panels": stored.astype(np.float64)},
            )
        )
    return cases


MISTAKES = [
    Mistake(
        "M17-axes",
        "Queries and keys have changed places in the picture.",
        "Rows (y) are the queries, columns (x) the keys: no transposition is needed.",
    ),
    Mistake("M17-order", "The panels stand in reverse order.", "The first layer comes first."),
    Mistake("M17-same", "Every panel shows one and the same layer.", "Inside the loop, take the loop's own layer."),
    Mistake(
        "M17-labels",
        "The axis labels are exchanged: x are the keys, y the queries.",
        "set_xlabel and set_ylabel, with these two words.",
    ),
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Panels and values first; then the text: titles with the layer, axes named, one tick per token."""
    panels, want = answers.arrays.get("panels"), case.expected["panels"]
    if panels is None or panels.ndim != 3 or len(panels) != len(want):
        count = 0 if panels is None or panels.ndim != 3 else len(panels)
        return wrong(
            "panels",
            f"Expected one panel for each of the {len(want)} layers; {count} came.",
            "Each panel is an axes with one image (imshow, matshow or pcolormesh).",
        )
    if _shows(panels, want.swapaxes(1, 2)):
        return named(exercise, "M17-axes")
    if _shows(panels, want[::-1]):
        return named(exercise, "M17-order")
    if panels.shape == want.shape and any(np.allclose(panels, layer, atol=1e-5) for layer in want):
        return named(exercise, "M17-same")
    if not _shows(panels, want):
        return wrong(
            "values",
            "The pictures do not show the attention per layer.",
            "Panel i shows attention_per_layer[i] as it is.",
        )
    return Judgement([Check("panels", True), *_text_checks(exercise, answers, list(case.texts["tokens"]), len(want))])


def _shows(panels: Array, layers: Array) -> bool:
    return panels.shape == layers.shape and np.allclose(panels, layers, atol=1e-5)


def _text_checks(exercise: Exercise, answers: Answers, tokens: list[str], layers: int) -> list[Check]:
    titles = _texts(answers, "titles")
    numbered = any([str(i + start) in title for i, title in enumerate(titles)] == [True] * layers for start in (0, 1))
    return [
        Check("titles", numbered, "Each panel's title says which layer it shows.", 'set_title(f"layer {i}"), say.'),
        *_axis_labels(exercise, answers),
        Check(
            "ticks",
            _ticks_are(tokens, answers.text("xticks")) and _ticks_are(tokens, answers.text("yticks")),
            "The ticks of both axes are the tokens, one for each.",
            "set_xticks(range(len(tokens)), tokens), and the same for y.",
        ),
        Check(
            "tick places",
            bool(np.all(answers.arrays.get("in_place", True))),
            "The ticks do not stand at their rows and columns: a token names the one beside it.",
            "The first token stands at 0: set_xticks(range(len(tokens)), tokens), and the same for y.",
        ),
        Check(
            "size",
            bool(np.all(answers.arrays.get("has_area", True))),
            "The figure has a width or a height of 0: it cannot be drawn.",
            "Look at figsize=(width, height).",
        ),
    ]


def _axis_labels(exercise: Exercise, answers: Answers) -> list[Check]:
    xlabels, ylabels = _texts(answers, "xlabels"), _texts(answers, "ylabels")
    named_x = any("key" in label.lower() for label in xlabels)
    named_y = any("quer" in label.lower() for label in ylabels)
    if any("quer" in label.lower() for label in xlabels) and not (named_x and named_y):
        return [exercise.mistake("M17-labels").check()]
    message = "The axes are not named: x are the keys, y the queries."
    return [Check("axes", named_x and named_y, message, "set_xlabel and set_ylabel, with these two words.")]


def _texts(answers: Answers, name: str) -> list[str]:
    value = answers.text(name)
    return [str(entry) for entry in value] if isinstance(value, list) else []


def _ticks_are(tokens: list[str], ticks: object) -> bool:
    """True where the axis of some panel is labelled with the tokens; panels that share an axis label the outer ones."""
    return (
        isinstance(ticks, list)
        and any(labels == tokens for labels in ticks)
        and all(labels in (tokens, [""] * len(tokens), []) for labels in ticks)
    )


EXERCISE = Exercise(make, judge, MISTAKES, framework="torch")

"""In each layer the head that attends to [SEP] most."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Mistake, compare_case, not_charged_twice

from .._arrays import Wrong
from .._stored import TOKENS, stored

Array = np.ndarray


def _stored_share() -> Array:
    """(layers, heads): the stored weight on [SEP]"""
    places = [i for i, token in enumerate(TOKENS) if token == "[SEP]"]
    return stored("attentions")[..., places].sum(-1).mean(-1)


def _make(generator: np.random.Generator) -> list[Case]:
    return [Case(expected={"heads": _stored_share().argmax(-1)})]


def _follows(case: Case, answers: Answers) -> bool:
    """True where these are the heads with the largest of the student's own wrong shares."""
    heads, own = answers.arrays.get("heads"), answers.arrays.get("own_share")
    if heads is None or own is None or own.shape != _stored_share().shape:
        return False
    told_apart = bool(np.isfinite(own).all()) and float(np.ptp(own, axis=-1).min()) > 0
    return told_apart and np.array_equal(heads, own.argmax(-1))


def _heads(value: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"heads": value(_stored_share())}


MISTAKES = [
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
        "heads-reversed", "The layers are in reverse order.", "Layer 0 first.", _heads(lambda s: s.argmax(-1)[::-1])
    ),
]


EXERCISE = Exercise(
    _make, not_charged_twice(compare_case, ("encoder_lab/separator_share",), _follows), MISTAKES, framework="torch"
)

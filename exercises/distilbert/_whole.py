"""The whole model in float64 NumPy, with the named mistakes of its parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from autograder.exercise import Answers, Case, Mistake

from .._attention import Array, layer_norm
from ._block import RIGHT, BlockVariant, block
from .attention_context.oracle import EXERCISE as CONTEXT
from .attention_scores.oracle import EXERCISE as SCORES
from .classifier.oracle import EXERCISE as CLASSIFIER
from .embeddings.oracle import EXERCISE as EMBEDDINGS

#: Exercises of the notebooks before the model's own.
EARLIER = ("position_ids", "embeddings", "attention_init", "attention_scores", "attention_weights", "attention_context")
#: Exercise -> the part of the model that it is about.
PARTS = {
    **dict.fromkeys(EARLIER, "earlier"),
    "encoder_list": "list",
    "encoder_loop": "loop",
    "classifier": "classifier",
}

#: Exercise -> the ids of the mistakes that lost its points; none where nobody knows what is wrong with it.
Lost = Mapping[str, frozenset[str]]
Step = Callable[[Array], Array]

#: The blocks that work on what the classifier gets, by the mistake in the loop. What others give is not known.
_LOOPS: Mapping[str, Callable[[Sequence[Step]], Sequence[Step]]] = {
    **dict.fromkeys(("M14-kept", "M14-appended", "M14-order", "M14-last", "M17-early"), lambda blocks: blocks),
    "M14-output": lambda blocks: [],
    "M14-behind": lambda blocks: blocks[:-1],
    "M14-first": lambda blocks: blocks[-1:],
    "M14-backwards": lambda blocks: blocks[::-1],
}


def lost(answers: Answers) -> Lost:
    """The exercises on parts of the model that lost points."""
    found = {}
    for exercise in PARTS:
        if answers.charged(f"distilbert/{exercise}"):
            checks = answers.earlier[f"distilbert/{exercise}"].checks
            found[exercise] = frozenset(check.mistake for check in checks if check.mistake and not check.passed)
    return found


def logits(case: Case, lost: Lost) -> Iterator[Array]:
    """(batch, n_classes), once for every way to make these mistakes together; nothing where one cannot be computed."""
    for embed, variant, order, classify in itertools.product(
        _embeddings(case, lost), _variants(lost), _orders(lost), _classifiers(case, lost)
    ):
        try:
            x = embed()
            for step in order([_block(case, layer, variant) for layer in range(int(case.config["n_layers"]))]):
                x = step(x)
            answer = classify(x)
        except (IndexError, KeyError, ValueError):
            continue  # a mistake that cannot be made with these sizes
        yield answer


def _computable(mistakes: Iterable[Mistake], ids: frozenset[str]) -> list[Mistake]:
    return [mistake for mistake in mistakes if mistake.id in ids and (mistake.answers or mistake.variant)]


def _embeddings(case: Case, lost: Lost) -> list[Callable[[], Array]]:
    weights = {name.removeprefix("embeddings."): weight for name, weight in case.weights.items()}
    alone = Case(case.config, case.inputs, weights)
    if "position_ids" in lost:
        ids = case.inputs["input_ids"]
        rows = (
            []
            if "embeddings" in lost
            else [_POSITIONS[id](ids) for id in sorted(lost["position_ids"]) if id in _POSITIONS]
        )
        return [lambda rows=one: embedded(alone, rows) for one in rows]
    if "embeddings" not in lost:
        return [lambda: embedded(alone)]
    known = _computable(EMBEDDINGS.mistakes, lost["embeddings"])
    return [lambda mistake=mistake: mistake.answers(alone)["embeddings"] for mistake in known if mistake.answers]


#: The rows of the table of positions (batch, tokens) that somebody takes who makes this mistake.
_POSITIONS: Mapping[str, Callable[[Array], Array]] = {
    "POS-one": lambda ids: np.broadcast_to(np.arange(1, ids.shape[1] + 1), ids.shape),
    "POS-batch": lambda ids: np.broadcast_to(np.arange(len(ids))[:, None], ids.shape),
    "POS-ids": lambda ids: ids,
    "POS-zero": np.zeros_like,
    "POS-reversed": lambda ids: np.broadcast_to(np.arange(ids.shape[1])[::-1], ids.shape),
    "POS-on": lambda ids: np.arange(ids.size).reshape(ids.shape),
}


def embedded(case: Case, rows: Array | None = None) -> Array:
    """Words and positions, added and normalised: (batch, tokens, dim). rows: other rows of the table of positions"""
    ids = case.inputs["input_ids"]
    words = case.weights["word_embeddings.weight"][ids].astype("float64")
    both = words + case.weights["position_embeddings.weight"][np.arange(ids.shape[1]) if rows is None else rows]
    return layer_norm(both, case.weights, "LayerNorm", float(case.config["eps"]))


def _variants(lost: Lost) -> list[BlockVariant]:
    if {"attention_init", "attention_weights"} & set(lost):
        return []
    known = [
        [mistake.variant for mistake in _computable(exercise.mistakes, lost[name])] if name in lost else [RIGHT]
        for name, exercise in (("attention_scores", SCORES), ("attention_context", CONTEXT))
    ]
    return [_together(pair) for pair in itertools.product(*known)]


def _together(variants: Iterable[BlockVariant]) -> BlockVariant:
    changed: dict[str, Any] = {}
    for variant in variants:
        changed |= {f.name: getattr(variant, f.name) for f in fields(variant) if getattr(variant, f.name) != f.default}
    return BlockVariant(**changed)


def _block(case: Case, layer: int, variant: BlockVariant) -> Step:
    place = f"attention_layers.{layer}."
    weights = {name.removeprefix(place): w for name, w in case.weights.items() if name.startswith(place)}
    heads, eps = int(case.config["n_heads"]), float(case.config["eps"])
    return lambda x: block(x, weights, heads, eps, variant)[0]


def _orders(lost: Lost) -> list[Callable[[Sequence[Step]], Sequence[Step]]]:
    if "encoder_list" in lost:
        return []
    if "encoder_loop" not in lost:
        return [lambda blocks: blocks]
    return [_LOOPS[id] for id in sorted(lost["encoder_loop"]) if id in _LOOPS]


def _classifiers(case: Case, lost: Lost) -> list[Step]:
    def classify(x: Array) -> Array:
        w = case.weights
        hidden = (x[:, 0] @ w["pre_classifier.weight"].T + w["pre_classifier.bias"]).clip(min=0)
        answer: Array = hidden @ w["classifier.weight"].T + w["classifier.bias"]
        return answer

    def mistaken(mistake: Mistake) -> Step:
        assert mistake.answers is not None
        answers = mistake.answers
        return lambda x: answers(Case(case.config, {"final": x}, case.weights))["logits"]

    if "classifier" not in lost:
        return [classify]
    return [mistaken(mistake) for mistake in _computable(CLASSIFIER.mistakes, lost["classifier"])]

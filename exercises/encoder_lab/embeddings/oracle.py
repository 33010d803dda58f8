"""``Embeddings``: words plus positions, normalised, then dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    named,
    without_side_effects,
)

from ..._attention import layer_norm
from .._arrays import Wrong
from .._layers import EPS, embedding_weights, norm_mistake, torch_embedding
from .._naming import SIZES, with_names

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, vocabulary, positions, d_model, size in (
        (2, 5, 23, 9, 6, 1.0),
        (4, 7, 19, 11, 8, 1.0),
        (3, 6, 17, 8, 10, 1e-3),
    ):
        weights = embedding_weights(generator, vocabulary, positions, d_model, size)
        ids = generator.integers(1, vocabulary, (batch, tokens))
        ids[0, 2] = 0  # a token like any other here: it has a place of its own
        ids[1] = ids[0, ::-1]  # the same tokens elsewhere: positions must tell them apart
        sizes = {"vocab_size": vocabulary, "max_position_embeddings": positions, "d_model": d_model}
        expected = {
            "token_embeddings": np.array([vocabulary, d_model]),
            "position_embeddings": np.array([positions, d_model]),
            "output": torch_embedding(ids, weights),
            "refuses_long": np.array(True),
            "own_norms": np.array([2]),
        }
        cases.append(Case(sizes, {"input_ids": ids}, weights, {}, expected))
    return cases


def judge_embeddings(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule; what is dropped in eval mode, or before the norm in training, has a name."""
    judgement = compare_case(exercise, case, answers)
    output, training = answers.arrays.get("output"), answers.arrays.get("in_training")
    comparable = output is not None and output.shape == case.expected["output"].shape
    if judgement.earned < 1 and comparable and (output == 0).mean() > 0.02:
        return named(exercise, "M16")
    if judgement.earned == 1 and output is not None and training is not None and not _dropped_last(output, training):
        return exercise.mistake("M16-order").judgement(*judgement.checks)
    return judgement


def _dropped_last(output: Array, training: Array) -> bool:
    """In training every number is what it is in eval mode, or 0, or larger by one common factor."""
    if training.shape != output.shape or not np.isfinite(training).all():
        return False
    kept = (training != 0) & (np.abs(output) > 1e-3)
    ratio = training[kept] / output[kept]
    return bool(len(ratio)) and float(np.ptp(ratio)) < 1e-3


def _embedded(
    combine: Callable[[Array, Array], Array],
    positions: Callable[[Array], Array] | None = None,
    eps: float = EPS,
    norm: bool = True,
) -> Wrong:
    def answers(case: Case) -> Mapping[str, Array]:
        ids = case.inputs["input_ids"]
        words = case.weights["token_embeddings.weight"][ids].astype(np.float64)
        table = case.weights["position_embeddings.weight"].astype(np.float64)
        places = np.broadcast_to(np.arange(ids.shape[1]), ids.shape) if positions is None else positions(ids)
        both = combine(words, table[np.clip(places, 0, len(table) - 1)])
        return {"output": layer_norm(both, case.weights, "layer_norm", eps) if norm else both}

    return answers


def _normed_words(case: Case) -> Mapping[str, Array]:
    ids = case.inputs["input_ids"]
    words = case.weights["token_embeddings.weight"][ids].astype(np.float64)
    return {
        "output": layer_norm(words, case.weights, "layer_norm", EPS)
        + case.weights["position_embeddings.weight"][: ids.shape[1]]
    }


def _add(words: Array, places: Array) -> Array:
    return words + places


def _right_but_for_eps(case: Case) -> Mapping[str, Array]:
    # with everything else: vectors of the usual size hardly show the eps, and another mistake must keep its own name
    return {**case.expected, **_embedded(_add, eps=1e-5)(case)}


MISTAKES = [
    norm_mistake(1),
    Mistake(
        "M11-none",
        "The positions are missing: only the words are there.",
        "Both tables make a vector of d_model numbers.",
        _embedded(lambda words, places: words),
    ),
    Mistake(
        "M11-words",
        "The words are missing: only the positions are there.",
        "Both tables make a vector of d_model numbers.",
        _embedded(lambda words, places: places),
    ),
    Mistake(
        "M11-product",
        "Words and positions were multiplied.",
        "They are added, number by number.",
        _embedded(np.multiply),
    ),
    Mistake("M11-difference", "The positions were subtracted.", "They are added.", _embedded(np.subtract)),
    Mistake(
        "M11-batch",
        "The position is counted along the batch.",
        "Position is the place in the sentence, axis 1 of input_ids.",
        _embedded(_add, lambda ids: np.broadcast_to(np.arange(len(ids))[:, None], ids.shape)),
    ),
    Mistake(
        "M11-one",
        "The positions start at 1.",
        "The first token is at position 0.",
        _embedded(_add, lambda ids: np.broadcast_to(np.arange(1, ids.shape[1] + 1), ids.shape)),
    ),
    Mistake(
        "M11-zero",
        "Every token gets the vector of position 0.",
        "Token t gets the vector of position t.",
        _embedded(_add, np.zeros_like),
    ),
    Mistake(
        "M11-reversed",
        "The positions count from the end.",
        "The first token is at position 0.",
        _embedded(_add, lambda ids: np.broadcast_to(np.arange(ids.shape[1])[::-1], ids.shape)),
    ),
    Mistake(
        "M11-skips",
        "Tokens of number 0 were not counted: what comes behind them is at too early a position.",
        "Every token has a position, whatever its number.",
        _embedded(_add, lambda ids: np.maximum((ids != 0).cumsum(1) - 1, 0)),
    ),
    Mistake(
        "M11-ids",
        "The table of positions was asked with the token ids.",
        "It is asked with 0, 1, 2, …",
        _embedded(_add, lambda ids: ids),
    ),
    Mistake(
        "M13",
        "The layer norm's eps is larger than the 1e-12 that the assignment asks for: small vectors come out too small.",
        "nn.LayerNorm takes eps; its default is 1e-5.",
        _right_but_for_eps,
        share=0.75,
    ),
    Mistake(
        "M8-none",
        "The layer norm is missing.",
        "The sum of words and positions is normalised.",
        _embedded(_add, norm=False),
    ),
    Mistake("M8", "The layer norm comes before the positions are added.", "Add first, then normalise.", _normed_words),
    Mistake(
        "long",
        "A sentence that is too long is accepted.",
        "There is no vector for a position beyond the table.",
        lambda case: {"output": case.expected["output"], "refuses_long": np.array(False)},
    ),
    Mistake(
        "M16",
        "Numbers are dropped in eval mode too.",
        "nn.Dropout knows of eval mode; F.dropout has to be told.",
    ),
    Mistake(
        "M16-order",
        "In training, numbers are dropped before the layer norm, or by something else than a dropout.",
        "Eq. (4): the dropout comes last.",
        share=0.75,
    ),
    SIZES,
    *SIDE_EFFECTS,
]


_judge = with_names(
    without_side_effects(judge_embeddings),
    token_embeddings="token_embeddings",
    position_embeddings="position_embeddings",
)
EXERCISE = Exercise(_make, _judge, MISTAKES, framework="torch")

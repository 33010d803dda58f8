"""References for ``Embeddings``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case
from autograder.oracles.attention import layer_norm
from autograder.oracles.encoder_lab_drawing import (
    Wrong,
    normal,
)

Array = np.ndarray
EPS = 1e-12


def embedding_weights(
    generator: np.random.Generator, vocabulary: int, positions: int, d_model: int, size: float = 1.0
) -> dict[str, Array]:
    return {
        "token_embeddings.weight": normal(generator, vocabulary, d_model, size=size),
        "position_embeddings.weight": normal(generator, positions, d_model, size=size),
        "layer_norm.weight": normal(generator, d_model, size=0.2) + np.float32(1),
        "layer_norm.bias": normal(generator, d_model, size=0.2),
    }


def torch_embedding(ids: Array, weights: Mapping[str, Array], prefix: str = "") -> Array:
    """``torch.nn``'s own tables and norm in float64: (batch, tokens) -> (batch, tokens, d_model)"""
    import torch
    from torch import nn

    tensors = {
        name.removeprefix(prefix): torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()
    }
    words = nn.functional.embedding(torch.from_numpy(ids), tensors["token_embeddings.weight"])
    places = tensors["position_embeddings.weight"][: ids.shape[1]]
    return nn.functional.layer_norm(
        words + places, words.shape[-1:], tensors["layer_norm.weight"], tensors["layer_norm.bias"], EPS
    ).numpy()


def _make_embeddings(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, vocabulary, positions, d_model, size in (
        (2, 5, 23, 9, 6, 1.0),
        (4, 7, 19, 11, 8, 1.0),
        (3, 6, 17, 8, 10, 1e-3),
    ):
        weights = embedding_weights(generator, vocabulary, positions, d_model, size)
        ids = generator.integers(1, vocabulary, (batch, tokens))
        ids[1] = ids[0, ::-1]  # the same tokens elsewhere: positions must tell them apart
        sizes = {"vocab_size": vocabulary, "max_position_embeddings": positions, "d_model": d_model}
        expected = {
            "token_embeddings": np.array([vocabulary, d_model]),
            "position_embeddings": np.array([positions, d_model]),
            "output": torch_embedding(ids, weights),
            "refuses_long": np.array(True),
        }
        cases.append(Case(sizes, {"input_ids": ids}, weights, {}, expected))
    return cases


def judge_embeddings(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """As ever; but an eps that is not 1e-12 costs a quarter, and so does a dropout in the wrong place."""
    judgement = compare_case(exercise, case, answers)
    output, training = answers.arrays.get("output"), answers.arrays.get("in_training")
    if (
        output is not None
        and output.shape == case.expected["output"].shape
        and judgement.earned < 1
        and (output == 0).mean() > 0.02
    ):
        return Judgement(
            [
                Check(
                    "M16",
                    False,
                    "Numbers are dropped in eval mode too.",
                    "nn.Dropout knows of eval mode; F.dropout has to be told.",
                    "M16",
                )
            ]
        )
    if any(check.mistake == "M13" for check in judgement.checks):
        return Judgement(judgement.checks, share=0.75)
    if judgement.earned == 1 and output is not None and training is not None and not _dropped_last(output, training):
        wrong = Check(
            "M16-order",
            False,
            "In training, numbers are dropped before the layer norm, or by something else than a dropout.",
            "Eq. (4): the dropout comes last.",
            "M16-order",
        )
        return Judgement([wrong, *judgement.checks], share=0.75)
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


EMBEDDING_MISTAKES = [
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
        "The first token stands at position 0.",
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
        "The first token stands at position 0.",
        _embedded(_add, lambda ids: np.broadcast_to(np.arange(ids.shape[1])[::-1], ids.shape)),
    ),
    Mistake(
        "M11-ids",
        "The table of positions was asked with the token ids.",
        "It is asked with 0, 1, 2, …",
        _embedded(_add, lambda ids: ids),
    ),
    Mistake(
        "M13",
        "The layer norm's eps is larger than the sheet's 1e-12: small vectors come out too small.",
        "nn.LayerNorm takes eps; its default is 1e-5.",
        _embedded(_add, eps=1e-5),
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
        "A sentence that is too long is taken without a word.",
        "There is no vector for a position beyond the table.",
        lambda case: {"output": case.expected["output"], "refuses_long": np.array(False)},
    ),
]


EXERCISES = [
    Exercise(_make_embeddings, judge_embeddings, EMBEDDING_MISTAKES, framework="torch", slug="encoder_lab/embeddings"),
]

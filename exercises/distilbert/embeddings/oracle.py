"""The embeddings: words and positions, added and normalised."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Mistake, dropout_at_work, not_charged_twice, same_twice

from ..._attention import Array, layer_norm
from .._rules import LAYER_MISTAKES, with_layers
from .._sizes import config, hf_config


def _case(
    generator: np.random.Generator,
    batch: int,
    tokens: int,
    n_heads: int,
    head_size: int,
    size: float = 1.0,
    alike: bool = True,
) -> Case:
    """alike: all rows of the position table are the same: wrong positions, with points of their own, show nothing"""
    # more positions than words, so that looking up ids in the table of positions is no crash but a wrong answer
    sizes = config(n_heads, head_size, 17, max_position_embeddings=29)
    dim, vocabulary, positions = sizes["dim"], sizes["vocab_size"], sizes["max_position_embeddings"]
    weights = {
        "word_embeddings.weight": (size * generator.normal(0, 1, (vocabulary, dim))).astype(np.float32),
        "position_embeddings.weight": (size * generator.normal(0, 1, (positions, dim))).astype(np.float32),
        "LayerNorm.weight": generator.normal(1, 0.2, dim).astype(np.float32),
        "LayerNorm.bias": generator.normal(0, 0.2, dim).astype(np.float32),
    }
    if alike:
        weights["position_embeddings.weight"][:] = weights["position_embeddings.weight"][0]
    weights["word_embeddings.weight"][0] = 0.0  # the row of padding_idx
    input_ids = generator.integers(1, vocabulary, (batch, tokens))
    input_ids[1] = input_ids[0, ::-1]  # the same tokens elsewhere: positions must tell them apart
    input_ids[-1, -1] = 0
    import torch
    from transformers.models.distilbert.modeling_distilbert import Embeddings

    module = Embeddings(hf_config(sizes)).double().eval()
    module.load_state_dict({name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()})
    with torch.no_grad():
        output = module(torch.from_numpy(input_ids)).numpy()
    return Case(sizes, {"input_ids": input_ids}, weights, {}, {"embeddings": output})


def make(generator: np.random.Generator) -> list[Case]:
    return [
        _case(generator, 2, 5, 3, 4),
        _case(generator, 4, 7, 3, 2),
        _case(generator, 3, 6, 4, 2, size=1e-3),  # shows an eps that is not the config's
        _case(generator, 2, 4, 3, 3, size=1e-6),  # about √eps: LayerNorm no longer hides a factor
        _case(generator, 2, 6, 3, 3, alike=False),
    ]


def _embedded(
    combine: Callable[[Array, Array], Array],
    eps: float | None = None,
    norm: bool = True,
) -> Callable[[Case], Mapping[str, Array]]:
    """The answer of somebody who combines words and positions in another way."""

    def answers(case: Case) -> Mapping[str, Array]:
        ids = case.inputs["input_ids"]
        words = case.weights["word_embeddings.weight"][ids].astype(np.float64)
        table = case.weights["position_embeddings.weight"].astype(np.float64)
        both = combine(words, np.broadcast_to(table[: ids.shape[1]], words.shape))
        if norm:
            both = layer_norm(both, case.weights, "LayerNorm", float(case.config["eps"]) if eps is None else eps)
        return {"embeddings": both}

    return answers


def _normed_words(case: Case) -> Mapping[str, Array]:
    ids = case.inputs["input_ids"]
    words = case.weights["word_embeddings.weight"][ids].astype(np.float64)
    places = case.weights["position_embeddings.weight"].astype(np.float64)[None, : ids.shape[1]]
    return {"embeddings": layer_norm(words, case.weights, "LayerNorm", float(case.config["eps"])) + places}


def _laid_behind(case: Case) -> Mapping[str, Array]:
    ids = case.inputs["input_ids"]
    words = case.weights["word_embeddings.weight"][ids].astype(np.float64)
    places = case.weights["position_embeddings.weight"].astype(np.float64)[np.arange(ids.shape[1])]
    both = np.concatenate([words, np.broadcast_to(places, words.shape)], axis=1)
    return {"embeddings": layer_norm(both, case.weights, "LayerNorm", float(case.config["eps"]))}


def _looked_up(case: Case, words: str, places: str) -> Mapping[str, Array]:
    """Words and places, each from the table of this name."""
    ids = case.inputs["input_ids"]
    both = case.weights[f"{words}.weight"][ids].astype(np.float64)
    both = both + case.weights[f"{places}.weight"][np.arange(ids.shape[1])].astype(np.float64)
    return {"embeddings": layer_norm(both, case.weights, "LayerNorm", float(case.config["eps"]))}


def _add(words: Array, places: Array) -> Array:
    return words + places


MISTAKES = [
    Mistake(
        "M11-none",
        "The positions are missing: only the words are there.",
        "Both vectors have the same size; the token's embedding is made of both.",
        _embedded(lambda w, p: w),
    ),
    Mistake(
        "M11-words",
        "The words are missing: only the positions are there.",
        "Both vectors have the same size; the token's embedding is made of both.",
        _embedded(lambda w, p: p),
    ),
    Mistake(
        "M11-product",
        "Words and positions were multiplied.",
        "They are added, number by number.",
        _embedded(lambda w, p: w * p),
    ),
    Mistake(
        "M11-concat",
        "The positions were laid behind the words, as if they were further tokens.",
        "Nothing gets longer: each token's two vectors become one.",
        _laid_behind,
    ),
    Mistake("M11-difference", "The positions were subtracted.", "They are added.", _embedded(lambda w, p: w - p)),
    Mistake(
        "M11-mean",
        "Words and positions were averaged: on a small scale LayerNorm no longer hides the half.",
        "They are added.",
        _embedded(lambda w, p: (w + p) / 2, eps=1e-12),
    ),
    Mistake(
        "M13",
        "The LayerNorm's eps is not the config's.",
        "nn.LayerNorm takes eps=config.eps.",
        _embedded(_add, eps=1e-5),
    ),
    Mistake(
        "M8-none",
        "The LayerNorm is missing.",
        "The sum of words and positions is normalised.",
        _embedded(_add, norm=False),
    ),
    Mistake("M8", "The LayerNorm comes before the positions are added.", "Add first, then normalise.", _normed_words),
    Mistake(
        "M11-table",
        "The words were looked up in the table of positions.",
        "word_embeddings is asked with input_ids, position_embeddings with the places.",
        lambda case: _looked_up(case, "position_embeddings", "position_embeddings"),
    ),
    Mistake(
        "M11-table",
        "The positions were looked up in the table of words.",
        "word_embeddings is asked with input_ids, position_embeddings with the places.",
        lambda case: _looked_up(case, "word_embeddings", "word_embeddings"),
    ),
    dropout_at_work("The embeddings"),
    *LAYER_MISTAKES,
]


def _some_row(case: Case, answers: Answers) -> bool:
    """Whether every token's vector is the sum of its word and of some row of the table of positions, normalised."""
    found = answers.arrays.get("embeddings")
    if found is None or found.shape != case.expected["embeddings"].shape:
        return False
    words = case.weights["word_embeddings.weight"][case.inputs["input_ids"]].astype(np.float64)
    rows = [
        layer_norm(words + row.astype(np.float64), case.weights, "LayerNorm", float(case.config["eps"]))
        for row in case.weights["position_embeddings.weight"]
    ]
    return bool(np.isclose(np.stack(rows), found, atol=1e-5, rtol=1e-4).all(-1).any(0).all())


RULE = not_charged_twice(with_layers(same_twice("embeddings")), ("distilbert/position_ids",), _some_row)
EXERCISE = Exercise(make, RULE, MISTAKES, framework="torch")

"""Notebook 1: are words and positions merged as DistilBERT does it?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.distilbert._small import build, small_config
from course.check.layers_made import check_layers
from course.check.modules import plain_norm, undisturbed
from course.config import Config

NAME = "embeddings"
#: Two sentences of five tokens; the second is the first read backwards.
IDS = [[3, 1, 4, 2, 5], [5, 2, 4, 1, 3]]


@undisturbed
def embeddings(kind: Any) -> None:
    """Each token's vector is made of its word and of its place in the sentence, and then normalised."""
    config = small_config()
    layer = build(NAME, kind, config)
    sizes = {
        "word_embeddings": (config.vocab_size, config.dim),
        "position_embeddings": (config.max_position_embeddings, config.dim),
        "LayerNorm": (config.dim,),
    }
    check_layers(NAME, layer, sizes)
    ids = torch.tensor(IDS)
    _run(layer, ids, config)
    if not torch.equal(ids, torch.tensor(IDS)):
        fail(
            NAME,
            "input_ids must come out as they went in.",
            "Yours were changed.",
            "Make new tensors; change none in place.",
        )
    _words_are_there(layer, config)
    _positions_are_there(layer, config)
    _normalised(layer, config)
    _sum_of_both(layer, config)
    _small_numbers(layer, config)
    _precise(layer, config)
    passed(
        NAME,
        "shape",
        "words and positions both count",
        "added, then normalised",
    )


def _run(layer: nn.Module, ids: Tensor, config: Config) -> Tensor:
    shape = (*ids.shape, config.dim)
    end_to_end = (
        "Both vectors have dim numbers, and so has the result: they are merged number by number, not laid end to end."
    )
    with running(NAME, f"a batch of {ids.shape[0]} sentences of {ids.shape[1]} tokens", end_to_end):
        output = layer(ids)
    same_shape(NAME, "the embeddings", output, shape, "(batch, tokens, dim)", end_to_end)
    finite(NAME, "the embeddings", output)
    return torch.as_tensor(output)


def _tables(layer: Any, words: Tensor, positions: Tensor) -> None:
    layer.word_embeddings.weight.copy_(words)
    layer.position_embeddings.weight.copy_(positions)
    plain_norm(layer.LayerNorm)


def _peaks(count: int, config: Config) -> Tensor:
    """(count, dim): row r is 1 at place r and 0 elsewhere; LayerNorm leaves the largest number where it is."""
    return torch.eye(config.dim)[:count]


def _words_are_there(layer: nn.Module, config: Config) -> None:
    _tables(layer, _peaks(config.vocab_size, config), torch.ones(config.max_position_embeddings, config.dim))
    output = _run(layer, torch.tensor(IDS), config)
    if torch.equal(output.argmax(-1), torch.tensor(IDS)):
        return
    came, look = "Yours do not show which word was meant.", "input_embeds holds the words: is it part of embeddings?"
    if torch.equal(output.argmin(-1), torch.tensor(IDS)):
        came, look = "In yours the words count negatively: they were subtracted.", "Both vectors count alike."
    fail(NAME, "two different words at the same place must get different vectors.", came, look)


def _positions_are_there(layer: nn.Module, config: Config) -> None:
    """Every row of the table of positions is the same: which row a token gets is another exercise."""
    _tables(
        layer,
        torch.ones(config.vocab_size, config.dim),
        _peaks(1, config).expand(config.max_position_embeddings, -1),
    )
    output = _run(layer, torch.tensor(IDS), config)
    if float(output.abs().max()) == 0:
        fail(
            NAME,
            "a token's vector depends on its position.",
            "Yours does not: a token does not know where it stands.",
            "position_embeddings says where each token stands: is it part of embeddings?",
        )
    if bool((output.argmin(-1) == 0).all()):
        fail(
            NAME,
            "the position of a token counts like its word.",
            "In yours the positions were subtracted.",
            "Both vectors count alike.",
        )


def _random_tables(layer: nn.Module, config: Config) -> tuple[Tensor, Tensor]:
    words, positions = (
        torch.randn(config.vocab_size, config.dim),
        torch.randn(config.max_position_embeddings, config.dim),
    )
    _tables(layer, words, positions)
    return words, positions


def _normalised(layer: nn.Module, config: Config) -> None:
    _random_tables(layer, config)
    output = _run(layer, torch.tensor(IDS), config)
    mean, variance = output.mean(-1), output.var(-1, unbiased=False)
    if not close(mean, torch.zeros_like(mean), 1e-3) or not close(variance, torch.ones_like(variance), 1e-2):
        fail(
            NAME,
            "LayerNorm gives every token's vector mean 0 and variance 1.",
            f"The first token of yours has mean {mean[0, 0]:.2f} and variance {variance[0, 0]:.2f}.",
            "First merge words and positions, and then normalise what came of it.",
        )


def _sum_of_both(layer: nn.Module, config: Config) -> None:
    """What is added to every word and taken away from every position leaves a sum as it was, and nothing else."""
    ids = torch.tensor(IDS)
    words, positions = _random_tables(layer, config)
    before = _run(layer, ids, config)
    shift = torch.linspace(-1, 2, config.dim)
    _tables(layer, words + shift, positions - shift)
    if close(_run(layer, ids, config), before, 1e-3):
        return
    came, look = "Yours changes.", "Which operation takes two vectors of one size and undoes such a shift?"
    _tables(layer, words + shift, positions + shift)
    if close(_run(layer, ids, config), before, 1e-3):
        came = "Yours stays the same when both are shifted the same way: one was subtracted from the other."
    _tables(layer, words * 2, positions / 2)
    if close(_run(layer, ids, config), before, 1e-3):
        came = "Yours stays the same when the words are doubled and the positions halved: they were multiplied."
    fail(
        NAME,
        "a shift added to every word vector and taken away from every position vector must leave the result as it was.",
        came,
        look,
    )


def _precise(layer: nn.Module, config: Config) -> None:
    words, ids = torch.randn(config.vocab_size, config.dim), torch.tensor(IDS)
    _tables(layer, words, torch.zeros(config.max_position_embeddings, config.dim))
    off = float((_run(layer, ids, config) - nn.functional.layer_norm(words[ids], (config.dim,))).abs().max())
    if off > 1e-4:
        fail(
            NAME,
            "where all position vectors are 0, the word's own vector is normalised.",
            f"Yours is off by up to {off:.2g}.",
            "Does something round, or compute with too few digits?",
        )


def _small_numbers(layer: nn.Module, config: Config) -> None:
    """Vectors about as small as sqrt(eps): LayerNorm no longer hides a factor, and eps itself shows."""
    signs = torch.ones(config.dim)
    signs[::2] = -1
    signs[-1] = 0  # an odd number of features: the mean must be zero
    half = 0.5 * config.eps**0.5 * signs
    _tables(layer, half.expand(config.vocab_size, -1), half.expand(config.max_position_embeddings, -1))
    size = float(_run(layer, torch.tensor(IDS), config).abs().max())
    share = (config.dim - 1) / config.dim
    right, averaged = (share + 1) ** -0.5, 0.5 * (share / 4 + 1) ** -0.5
    if abs(size - right) < 1e-2:
        return
    if abs(size - averaged) < 1e-2:
        fail(
            NAME,
            "words and positions are merged at full size.",
            "Yours are averaged: half of each.",
            "LayerNorm hides a factor on ordinary numbers; on very small ones it shows.",
        )
    fail(
        NAME,
        f"on numbers as small as √eps the largest result is {right:.3f}.",
        f"Yours is {size:.3g}.",
        "Is the LayerNorm made with eps=config.eps, and is the sum all that goes through it?",
    )

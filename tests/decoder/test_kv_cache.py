"""Notebook 3 of the decoder: reading with a cache gives what reading in one go gives, and what GPT-2's cache gives."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from course import cache_parts
from course.check import decoder as check
from course.decoder_parts import ReadyModel, load_stories_model
from tests.grading import exercise_module, solution

NOTEBOOK = "3_kv_cache"
NAMES = ("cached_attention", "cached_model", "cache_memory", "accept_guesses")
TOKENS = 11
PIECES = ([TOKENS], [1] * TOKENS, [5, 1, 3, 1, 1], [2, 9])


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    """The notebook's own classes and functions."""
    import math

    found: dict[str, Any] = {
        "torch": torch, "F": F, "math": math, "CachedModelLayers": cache_parts.CachedModelLayers,
    }  # fmt: skip
    for name in NAMES:
        exec(solution("decoder", NOTEBOOK, f"{name}_answer"), found)
    return found


@pytest.fixture(scope="module")
def ids() -> torch.Tensor:
    return torch.randint(1, 67, (3, TOKENS), generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("pieces", PIECES, ids=str)
@pytest.mark.parametrize("ready", [False, True])
def test_attention_in_pieces_is_torchs_in_one_go(space: dict[str, Any], pieces: list[int], ready: bool) -> None:
    attend = cache_parts.ready_cached_attention if ready else space["cached_attention"]
    query, key, value = torch.randn(3, 2, 4, TOKENS, 6, generator=torch.Generator().manual_seed(1)).double()
    found, cache = [], None
    for part in zip(*(x.split(pieces, dim=2) for x in (query, key, value)), strict=True):
        output, cache = attend(*part, cache)
        found.append(output)
    whole = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(torch.cat(found, 2), whole, atol=1e-6, rtol=0)
    assert torch.equal(cache[0], key) and torch.equal(cache[1], value)


@pytest.mark.parametrize("pieces", PIECES, ids=str)
@pytest.mark.parametrize("ready", [False, True])
def test_logits_in_pieces_are_those_without_a_cache(
    space: dict[str, Any], ids: torch.Tensor, pieces: list[int], ready: bool
) -> None:
    kind = cache_parts.ReadyCachedModel if ready else space["CachedModel"]
    with torch.no_grad():
        whole = load_stories_model(ReadyModel).double()(ids)
        found, _ = cache_parts.in_pieces(load_stories_model(kind).double(), ids, pieces)
    torch.testing.assert_close(found, whole, atol=1e-6, rtol=0)


@pytest.mark.parametrize("pieces", PIECES, ids=str)
def test_logits_and_keys_are_those_of_gpt2s_own_cache(
    space: dict[str, Any], ids: torch.Tensor, pieces: list[int]
) -> None:
    model = load_stories_model(space["CachedModel"])
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    config = vars(model.config)
    gpt2 = exercise_module("decoder/_gpt2")
    logits, keys = gpt2.cached_logits(weights, ids.numpy(), config, pieces)
    with torch.no_grad():
        found, caches = cache_parts.in_pieces(model.double(), ids, pieces)
    np.testing.assert_allclose(found, logits, atol=1e-6)
    np.testing.assert_allclose(cache_parts.kept_keys(caches), keys, atol=1e-6)


def test_the_formula_is_what_is_measured(space: dict[str, Any], ids: torch.Tensor) -> None:
    model = load_stories_model(space["CachedModel"])
    with torch.no_grad():
        _, caches = model(ids)
    measured = sum(tensor.nbytes for cache in caches for tensor in cache)
    config = SimpleNamespace(layers=2, dim=64, heads=4, kv_heads=4)
    assert space["cache_memory"](config, TOKENS, 3, 4) == measured


def test_a_cropped_cache_is_not_the_cropped_text(space: dict[str, Any], ids: torch.Tensor) -> None:
    model = load_stories_model(space["CachedModel"])
    with torch.no_grad():
        cropped = [(keys[:, :, 1:], values[:, :, 1:]) for keys, values in model(ids[:, :-1])[1]]
        shifted, anew = model(ids[:, -1:], cropped)[0], model(ids[:, 1:])[0][:, -1:]
    assert (shifted - anew).abs().max() > 1e-3


def test_one_time_is_measured_for_each_length_and_way() -> None:
    cached, uncached = load_stories_model(cache_parts.ReadyCachedModel), load_stories_model(ReadyModel)
    times = cache_parts.milliseconds_per_token(cached, uncached, (2, 5), tries=1)
    assert {label: len(found) for label, found in times.items()} == {"without a cache": 2, "with a cache": 2}


def test_a_stretch_goal_that_was_not_begun_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    def untouched(logits: torch.Tensor, guesses: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    check.accept_guesses(untouched)
    assert "not begun" in capsys.readouterr().out


def test_a_stretch_goal_is_tested_both_ways(space: dict[str, Any]) -> None:
    check.accept_guesses(space["accept_guesses"])
    with pytest.raises(AssertionError, match="five words"):
        check.accept_guesses(lambda logits, guesses: guesses)
    with pytest.raises(AssertionError, match="wrong guess"):
        check.accept_guesses(lambda logits, guesses: logits.argmax(-1))

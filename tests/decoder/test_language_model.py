"""Notebook 1 of the decoder: its solution is GPT-2, it learns, and it beats the model that counts pairs."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course import decoder_parts as ready
from course.stories import START, VOCABULARY, Stories, decode, encode, load_stories, windows
from tests.grading import exercise_module, solution

NOTEBOOK = "1_language_model"
NAMES = ("causal_attention", "pre_norm_block", "language_model", "next_word_loss", "bigram", "perplexity")
STEPS = 200
CONFIG = ready.DecoderConfig(vocabulary=11, context=9, dim=24, heads=3, layers=3)
GPT2 = exercise_module("decoder/_gpt2")


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    """The notebook's own classes and functions."""
    found: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "math": math}
    found |= {"BlockLayers": ready.BlockLayers, "ModelLayers": ready.ModelLayers}
    for name in NAMES:
        exec(solution("decoder", NOTEBOOK, f"{name}_answer"), found)
    return found


@pytest.fixture(scope="module")
def stories() -> Stories:
    return load_stories()


@pytest.fixture
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def arrays(model: nn.Module) -> dict[str, np.ndarray]:
    return {name: weight.numpy() for name, weight in model.state_dict().items()}


def test_the_model_is_gpt2(space: dict[str, Any]) -> None:
    torch.manual_seed(5)
    mine = space["LanguageModel"](CONFIG, space["DecoderBlock"])
    for weight in mine.parameters():
        nn.init.normal_(weight, std=0.3)
    ids = torch.randint(CONFIG.vocabulary, (4, 7))
    theirs = GPT2.model_logits(arrays(mine), ids.numpy(), asdict(CONFIG))
    np.testing.assert_allclose(mine(ids).detach().numpy(), theirs, atol=1e-5, rtol=1e-5)


def test_the_courses_trained_model_is_gpt2_with_the_solutions_parts_too(
    space: dict[str, Any], stories: Stories
) -> None:
    ids = windows(stories.test, 64)[:3]
    mine = ready.load_stories_model(lambda config: space["LanguageModel"](config, space["DecoderBlock"]))
    trained = ready.load_stories_model()
    theirs = GPT2.model_logits(arrays(trained), ids.numpy(), asdict(ready.DecoderConfig()))
    for model in (mine, trained):
        np.testing.assert_allclose(model(ids).detach().numpy(), theirs, atol=1e-5, rtol=1e-5)


def test_the_ready_made_parts_are_the_solutions(space: dict[str, Any]) -> None:
    torch.manual_seed(6)
    query, key, value = torch.randn(3, 2, 3, 5, 4)
    ids, logits = torch.randint(11, (4, 6)), torch.randn(4, 6, 11)
    for mine, other in (
        (space["causal_attention"](query, key, value), ready.ready_causal_attention(query, key, value)),
        (space["next_word_loss"](logits, ids), ready.ready_loss(logits, ids)),
    ):
        torch.testing.assert_close(mine, other, atol=1e-6, rtol=1e-5)


def test_an_untrained_model_has_about_the_loss_of_a_guess(space: dict[str, Any], stories: Stories) -> None:
    torch.manual_seed(2024)
    ids = windows(stories.test, 64)[:8]
    with torch.no_grad():
        loss = ready.ready_loss(ready.ReadyModel(ready.DecoderConfig())(ids), ids)
    assert float(loss) == pytest.approx(math.log(len(VOCABULARY)), abs=0.1)


def test_no_test_story_is_among_those_to_train_on_and_the_text_is_the_same_every_time(stories: Stories) -> None:
    train, test = (set(decode(ids).split(START)[1:]) for ids in (stories.train, stories.test))
    assert len(train) == 4000 and len(test) == 200 and not train & test
    assert torch.equal(load_stories().train, stories.train)
    assert not torch.equal(load_stories(seed=1).test, stories.test)


def test_words_that_the_stories_do_not_know_are_named() -> None:
    with pytest.raises(ValueError, match=r"do not know the words \['zebra'\]"):
        encode("mia has a zebra")


def bigram_perplexity(space: dict[str, Any], stories: Stories) -> float:
    table = space["bigram"](stories.train, len(VOCABULARY))
    pieces = windows(stories.test, 64)
    return float(space["perplexity"](table[pieces[:, :-1].flatten(), pieces[:, 1:].flatten()]))


def model_perplexity(space: dict[str, Any], model: nn.Module, test: Tensor) -> float:
    return float(space["perplexity"](ready.log_probabilities(model, test, 64)))


def test_the_courses_model_has_less_than_half_the_bigrams_perplexity(space: dict[str, Any], stories: Stories) -> None:
    assert model_perplexity(space, ready.load_stories_model(), stories.test) < bigram_perplexity(space, stories) / 2


@pytest.mark.slow
def test_a_model_trained_from_three_seeds_has_at_most_two_thirds_of_the_bigrams_perplexity(
    space: dict[str, Any], stories: Stories, one_thread: None
) -> None:
    limit = bigram_perplexity(space, stories) * 2 / 3
    for seed in range(3):
        torch.manual_seed(seed)
        model = space["LanguageModel"](ready.DecoderConfig(), space["DecoderBlock"])
        ready.train(model, space["next_word_loss"], ready.batches(stories.train, 64, 16, STEPS, seed), STEPS)
        perplexity = model_perplexity(space, model, stories.test)
        print(f"seed {seed}: perplexity {perplexity:.2f}, at most {limit:.2f}")
        assert perplexity < limit

"""Notebook 2 of the decoder: its filters are transformers' own, its loop writes what theirs writes."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from course import generation_parts as writing
from course.check import decoder as check
from course.decoder_parts import load_stories_model
from course.stories import VOCABULARY
from tests.grading import solution

pytestmark = pytest.mark.slow

NOTEBOOK = "2_generation"
NAMES = ("temperature", "top_k", "top_p", "generate", "beam_search")


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    """The notebook's own functions."""
    found: dict[str, Any] = {"torch": torch, "F": F}
    for name in NAMES:
        exec(solution("decoder", NOTEBOOK, f"{name}_answer"), found)
    return found


def rows(seed: int, words: int = 11) -> Tensor:
    """Logits in double precision (6, words)"""
    return torch.randn(6, words, generator=torch.Generator().manual_seed(seed), dtype=torch.double) * 2


@pytest.mark.parametrize(
    ("name", "theirs", "values"),
    [
        ("temperature", TemperatureLogitsWarper, (0.1, 0.7, 1.0, 3.0)),
        ("top_k", TopKLogitsWarper, (1, 2, 7, 11, 40)),
        ("top_p", TopPLogitsWarper, (0.01, 0.3, 0.6, 0.9, 0.999)),
    ],
)
def test_a_filter_is_that_of_transformers(
    space: dict[str, Any], name: str, theirs: Any, values: tuple[float, ...]
) -> None:
    given = rows(1) if name == "temperature" else rows(2).softmax(-1)
    for value in values:
        wanted = theirs(value)(None, given if name == "temperature" else given.log()).softmax(-1).numpy()
        for mine in (space[name], getattr(writing, f"ready_{name}")):
            np.testing.assert_allclose(mine(given, value).numpy(), wanted, atol=1e-12)


def test_everything_stays_at_the_ends(space: dict[str, Any]) -> None:
    probabilities = rows(4).softmax(-1)
    np.testing.assert_allclose(space["top_p"](probabilities, 1.0), probabilities, atol=1e-12)
    np.testing.assert_allclose(space["top_k"](probabilities, 11), probabilities, atol=1e-12)
    greedy = space["temperature"](rows(4), 0)
    assert torch.equal(greedy, F.one_hot(rows(4).argmax(-1), 11).double())
    assert torch.equal(space["top_p"](probabilities, 1e-9), space["top_k"](probabilities, 1))


def test_words_are_drawn_as_often_as_their_probabilities_say(space: dict[str, Any]) -> None:
    logits = rows(5)[:1].float()
    choose = writing.chooser(lambda one: space["top_p"](space["temperature"](one, 1.5), 0.8), seed=3)
    wanted = space["top_p"](space["temperature"](logits, 1.5), 0.8)[0].double().numpy()
    draws = 20_000
    counts = np.bincount([int(choose(logits)) for _ in range(draws)], minlength=11)
    assert not counts[wanted == 0].any()
    spread = np.sqrt(draws * wanted * (1 - wanted))
    assert (np.abs(counts - draws * wanted) <= 4.5 * spread).all()


@pytest.mark.parametrize("stops", [False, True])
def test_the_loop_writes_what_transformers_writes(space: dict[str, Any], stops: bool) -> None:
    torch.manual_seed(0)
    theirs = GPT2LMHeadModel(GPT2Config(vocab_size=23, n_positions=32, n_embd=24, n_layer=2, n_head=3)).eval()
    for weight in theirs.parameters():
        if weight.ndim == 2:  # with large norms and biases every text would be one word
            torch.nn.init.normal_(weight, std=0.6)
    prompts = torch.randint(23, (12, 4))

    def written(prompt: Tensor, end: int | None) -> list[int]:
        options = {"do_sample": False, "max_new_tokens": 14, "pad_token_id": 0, "eos_token_id": end}
        ids: list[int] = theirs.generate(prompt[None], attention_mask=torch.ones(1, 4), **options)[0].tolist()
        return ids

    with torch.no_grad():
        free = [set(written(prompt, None)[4:]) for prompt in prompts]
        some = sorted(set.union(*free) - set.intersection(*free))
        end = some[0] if stops else None
        lengths = set()
        for prompt in prompts:
            want = written(prompt, end)
            for mine in (space["generate"], writing.ready_generate):
                given = (lambda ids: theirs(ids).logits, prompt, 14, lambda logits: logits.argmax(-1))
                assert mine(*given, -1 if end is None else end, 32).tolist() == want
            lengths.add(len(want))
    assert 18 in lengths
    assert (min(lengths) < 18) == stops


def test_the_solutions_pass_their_checks(space: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    for name in NAMES:
        getattr(check, name)(space[name])
    assert capsys.readouterr().out.count("✓") == len(NAMES)


def test_beams_that_forget_their_sums_are_told(space: dict[str, Any]) -> None:
    text = solution("decoder", NOTEBOOK, "beam_search_answer").replace("sums[:, None] + logs", "logs")
    exec(text, changed := {"torch": torch, "F": F})
    with pytest.raises(Exception, match="beam"):
        check.beam_search(changed["beam_search"])


def test_a_beam_search_that_nobody_began_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    def beam_search(model: Any, ids: Tensor, words: int, beams: int) -> Tensor:
        raise NotImplementedError

    check.beam_search(beam_search)
    assert "not begun" in capsys.readouterr().out


def told(value: float) -> list[Tensor]:
    """Three stories of the course's model at a temperature."""
    model = load_stories_model()
    with torch.no_grad():
        return [
            writing.ready_generate(
                model,
                writing.prompt(""),
                40,
                writing.chooser(lambda logits: writing.ready_temperature(logits, value), seed),
                writing.end_word(),
                model.config.context,
            )
            for seed in (1, 2, 3)
        ]


def test_low_temperatures_repeat_and_high_ones_surprise() -> None:
    cold, warm, hot = told(0.0), told(1.0), told(2.0)
    assert writing.repeated(cold, 8) > 0.6 > writing.repeated(hot, 8)
    surprisals = [writing.surprisal(load_stories_model(), texts) for texts in (cold, warm, hot)]
    assert surprisals == sorted(surprisals)


def test_pieces_are_counted_by_hand() -> None:
    assert writing.repeated([[1, 2, 3], [1, 2, 4]], length=2) == 1 / 4
    assert writing.repeated([[1, 2]], length=4) == 0


def test_the_copier_learns_the_diagonal() -> None:
    torch.manual_seed(0)
    copier, optimizer = writing.copier_and_optimizer()
    before = writing.train_copier(copier, optimizer, ())
    after = writing.train_copier(copier, optimizer, range(40))
    source = torch.randint(12, (4, 8))
    with torch.no_grad():
        logits, weights = copier(source)
    assert after < 0.05 < 2 < before
    assert torch.equal(logits.argmax(-1), source)
    assert (weights.argmax(-1) == torch.arange(8)).all()


def test_a_prompt_of_unknown_words_is_refused() -> None:
    assert writing.story(writing.prompt("mia has a")) == "mia has a"
    assert VOCABULARY[writing.end_word()] == "<story>"
    with pytest.raises(ValueError, match="zebra"):
        writing.prompt("a zebra")

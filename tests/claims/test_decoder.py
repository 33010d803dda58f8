"""The numbers in the texts of ``decoder`` are those of a training run and of counts."""

from itertools import pairwise

import pytest
import torch

from course import byte_pairs
from course import decoder_parts as ready
from course.check.decoder._ready import joined
from course.reviews import load_reviews
from course.stories import VOCABULARY, load_stories
from tests.claims.texts import cell, numbers

MODEL, PAIRS = "decoder/1_language_model", "decoder/6_byte_pair_encoding"


def test_one_word_of_context_allows_the_loss_of_the_lower_dotted_line() -> None:
    ids = load_stories().train
    counts = torch.ones(len(VOCABULARY), len(VOCABULARY))
    counts.index_put_((ids[:-1], ids[1:]), torch.tensor(1.0), accumulate=True)
    logs = (counts / counts.sum(dim=1, keepdim=True)).log()
    loss = -logs[ids[:-1], ids[1:]].mean().item()
    assert f'"one word of context": {loss:.2f}' in cell(MODEL, "train")


@pytest.mark.slow
def test_the_loss_falls_as_the_text_says() -> None:
    (reached,) = numbers(MODEL, "train-notice", "after about # steps the model is as good as")
    early, late = numbers(MODEL, "train-notice", "at step 100 the loss is about #, and at step 500 about #.")
    torch.manual_seed(2024)
    config = ready.DecoderConfig()
    model = ready.ReadyModel(config, ready.ReadyBlock)
    pieces = ready.batches(load_stories().train, length=config.context, size=32, steps=500, seed=1)
    losses = ready.train(model, ready.ready_loss, pieces, 500)

    def around(step: int) -> float:
        return sum(losses[step - 10 : step]) / 10

    assert abs(around(int(reached)) - 1.44) < 0.1
    assert abs(around(100) - early) < 0.06 and abs(around(500) - late) < 0.03


def test_what_a_larger_vocabulary_buys_is_what_the_text_says() -> None:
    texts = load_reviews().train.texts
    words, merges = byte_pairs.word_counts(texts), byte_pairs.stored_merges()
    found = {}
    for size in (0, 30, 300, 1000):
        tokens = {word: cut(word, merges[:size]) for word in words}
        found[size] = byte_pairs.tokens_per_word(tokens, words), byte_pairs.attention_cost(tokens, texts)
    per_word = {size: round(one, 2) for size, (one, _) in found.items()}
    scores = {size: round(cost) for size, (_, cost) in found.items()}
    assert numbers(PAIRS, "cost-notice", "a word has # tokens. After # merges it has #, and") == [
        per_word[0], 300, per_word[300],
    ]  # fmt: skip
    assert numbers(PAIRS, "cost-notice", "computes # scores in place of #") == [scores[300], scores[0]]
    saved = [round(found[0][0] - found[30][0], 2), round(found[30][0] - found[300][0], 2)]
    text = "the first 30 take # tokens per word away, the next 270 another #."
    assert numbers(PAIRS, "cost-notice", text) == pytest.approx(saved, abs=0.011)
    assert numbers(PAIRS, "cost-notice", "there are # tokens per word.") == [per_word[1000]]


def cut(word: str, merges: list[tuple[str, str]]) -> int:
    """In how many tokens a word is cut"""
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    symbols = tuple(word)
    while known := [pair for pair in pairwise(symbols) if pair in ranks]:
        symbols = joined(symbols, min(known, key=lambda pair: ranks[pair]))
    return len(symbols)

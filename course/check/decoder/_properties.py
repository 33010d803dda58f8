"""Examples that can be computed by hand, in words that teach. Told where an answer is wrong in no known way."""

import math
from typing import Any

import torch

from course.check.base import close, fail
from course.check.decoder import _ready


def perplexity(function: Any) -> None:
    for probabilities, want, words in (
        ([1.0, 1.0, 1.0], 1.0, "a model that is sure and right every time has perplexity 1"),
        ([0.25] * 6, 4.0, "a model that gives every word one chance in 4 has perplexity 4"),
        ([0.25] * 400, 4.0, "a text of 400 words, each with one chance in 4, has perplexity 4, too"),
        ([0.5, 0.5, 0.0625], 4.0, "two words with 1/2 and one with 1/16 make perplexity 4"),
    ):
        got = float(function(torch.tensor(probabilities).log()))
        if not abs(got - want) <= 1e-3:
            look = "e to the power of minus the mean log-probability. A product of many probabilities is 0 in float32."
            fail("perplexity", f"{words}.", f"Yours is {got:.4g}.", look)


def bigram(function: Any) -> None:
    row = function(torch.tensor([0, 1, 0, 1, 0, 2, 3]), 4)[0].exp()
    if not close(row, torch.tensor([1.0, 3.0, 2.0, 1.0]) / 7):
        came = f"In yours the row of word 0 is {[round(float(p), 2) for p in row]}."
        look = "Counts plus one, divided by the sum of the row: 1/7, 3/7, 2/7, 1/7. Then the logarithm."
        fail("bigram", "in 0 1 0 1 0 2 3, word 0 is followed by word 1 twice and by word 2 once.", came, look)


def next_word_loss(function: Any) -> None:
    even = float(function(torch.zeros(2, 5, 7), torch.tensor([[1, 4, 2, 6, 0], [3, 3, 5, 1, 2]])))
    if abs(even - math.log(7)) > 1e-4:
        came = f"Yours is {even:.3f}, {even / math.log(7):.3g} times as much."
        look = "A mean over words, with the natural logarithm."
        fail("next_word_loss", f"equal logits for 7 words make a loss of ln 7 = {math.log(7):.3f}.", came, look)


def causal_attention(function: Any) -> None:
    query, key, shown = torch.randn(1, 1, 5, 6), torch.randn(1, 1, 5, 6), torch.eye(5, 6)[None, None]
    weights = function(query, key, shown)[0, 0, :, :5]  # these values show the weights
    ahead = float(weights.triu(1).abs().max())
    if ahead > 1e-6:
        came = f"Yours gives later tokens weights of up to {ahead:.2g}."
        look = "What must a score be, for the softmax to make exactly 0 of it?"
        fail("causal_attention", "a token must not see later ones.", came, look)
    sums = weights.sum(-1)
    worst = int((sums - 1).abs().argmax())
    if not close(sums, torch.ones(5)):
        came = f"Yours sum to {float(sums[worst]):.4g} for query {worst}."
        fail("causal_attention", "each query's weights must sum to 1 over the keys.", came, "Mask, then softmax.")
    blind = (weights.tril() + torch.ones(5, 5).triu(1) < 1e-9).nonzero().tolist()
    if blind:
        came = f"In yours, token {blind[0][0]} gives token {blind[0][1]} no weight."
        fail("causal_attention", "a token sees itself and all earlier tokens.", came, "Only later ones are hidden.")


def pair_counts(function: Any) -> None:
    found = dict(function({tuple("banana"): 3, tuple("an"): 2}))
    want = {("b", "a"): 3, ("a", "n"): 8, ("n", "a"): 6}
    if found != want:
        look = "Each neighbour in each word, as often as the word occurs."
        fail("pair_counts", f"banana three times and an twice make {want}.", f"Yours makes {found}.", look)


def merge(function: Any) -> None:
    for word, pair, want in (("banana", ("a", "n"), ("b", "an", "an", "a")), ("aaab", ("a", "a"), ("aa", "a", "b"))):
        found = tuple(function(tuple(word), pair))
        if found != want:
            look = "From left to right, and each symbol at most once."
            fail("merge", f"the pair {pair} makes {want} of {word}.", f"Yours makes {found}.", look)


def encode(function: Any) -> None:
    found = list(function("abc", [("b", "c"), ("a", "b")], _ready.joined))
    if found != ["a", "bc"]:
        look = "One merge after the other, in the order of the list."
        fail("encode", "with the merges (b, c), (a, b) the word abc is a, bc.", f"Yours is {found}.", look)

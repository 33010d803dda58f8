"""The oracle of byte-pair encoding agrees with the library tokenizers wherever no two pairs are equally frequent."""

from collections import Counter

import numpy as np
import pytest
from tokenizers import Tokenizer, models

from course import byte_pairs
from course.check.decoder import _ready as ready
from course.reviews import load_reviews
from tests.grading import exercise_module
from tools import make_merges

oracle = exercise_module("decoder/_byte_pairs")


@pytest.mark.parametrize("seed", range(8))
def test_without_ties_the_merges_are_those_of_the_library(seed: int) -> None:
    words = oracle.without_ties(np.random.default_rng(seed), 16, 6)
    assert make_merges.learned(words, 6) == oracle.trained(words, 6)


@pytest.mark.parametrize("seed", range(8))
def test_words_are_cut_as_the_library_cuts_them(seed: int) -> None:
    generator = np.random.default_rng(seed)
    merges = oracle.trained(oracle.drawn_words(generator, 25), 14)
    vocabulary = {token: n for n, token in enumerate([*oracle.LETTERS, *("".join(pair) for pair in merges)])}
    library = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    encode = exercise_module("decoder/encode")
    for _ in range(30):
        word = "".join(generator.choice(list(oracle.LETTERS), int(generator.integers(1, 12))))
        assert encode._tokens(word, merges) == library.encode(word).tokens


def test_the_parts_that_exercises_are_given_count_and_merge_as_the_oracle_does() -> None:
    generator = np.random.default_rng(3)
    split = {tuple(word): often for word, often in oracle.drawn_words(generator, 30).items()}
    for _ in range(6):
        counts = ready.counts(split)
        assert counts == Counter(oracle.counted(split))
        pair = min(counts, key=lambda one: (-counts[one], one))
        merged = {word: ready.joined(word, pair) for word in split}
        assert all(list(joined) == oracle.merged(word, pair) for word, joined in merged.items())
        split = {merged[word]: often for word, often in split.items()}


def test_the_stored_merges_are_what_the_script_makes() -> None:
    words = byte_pairs.word_counts(load_reviews().train.texts)
    assert byte_pairs.stored_merges() == make_merges.learned(words, 1000)

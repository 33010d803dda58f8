"""The checkpoint's word vectors: which words there are, and which are alike."""

import pytest
import torch

from course.errors import SentenceError
from course.word_vectors import WordVectors


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors.load()


def test_whole_words_are_there_and_pieces_of_words_are_not(vectors: WordVectors) -> None:
    assert "bank" in vectors and "##ing" not in vectors and "[CLS]" not in vectors and "42" not in vectors
    assert vectors["bank"].shape == (384,)


def test_an_unknown_word_is_named(vectors: WordVectors) -> None:
    with pytest.raises(SentenceError, match="compsognathus"):
        vectors["compsognathus"]


def test_a_word_is_most_like_itself_and_then_like_its_relatives(vectors: WordVectors) -> None:
    words = [word for word, _ in vectors.similar(vectors["bank"], 3)]
    assert words[0] == "bank" and "banks" in words


def test_random_words_can_be_drawn_again(vectors: WordVectors) -> None:
    assert vectors.random(5, seed=1) == vectors.random(5, seed=1)
    assert set(vectors.random(5)) <= set(vectors.ids)


def test_context_decides_what_bank_finds(vectors: WordVectors) -> None:
    money, water = (vectors.of(words.split()) for words in ("bank customer need money", "river bank cold water"))
    query = vectors["bank"]
    values = [torch.softmax(keys @ query / len(query) ** 0.5, 0) @ keys for keys in (money, water)]
    assert "money" in dict(vectors.similar(values[0], 4)) and "water" in dict(vectors.similar(values[1], 4))

"""The word vectors of the checkpoint that comes with the course: one for each word, whatever its context."""

import json
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from course.errors import SentenceError
from course.tokenizer import TOKENIZER_FILE, load_tokenizer

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class WordVectors:
    """``vectors["bank"]`` is a tensor of shape (dim,); ``"bank" in vectors`` says whether there is one.

    Only whole words of at least three letters are kept: 21,000 of the 30,522 entries. The rest are pieces of words,
    numbers, signs, and other scripts.
    """

    ids: Mapping[str, int]  # word -> row of the table
    table: "Tensor"  # (words, dim)

    @classmethod
    def load(cls, checkpoint: str = "mini") -> "WordVectors":
        from course.pretrained import load_state_dict

        table = load_state_dict(checkpoint)["embeddings.word_embeddings.weight"]
        tokens = load_tokenizer().convert_ids_to_tokens(list(range(len(table))))
        rows = [row for row, token in enumerate(tokens) if len(token) > 2 and token.isascii() and token.isalpha()]
        return cls({tokens[row]: place for place, row in enumerate(rows)}, table[rows])

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def __getitem__(self, word: str) -> "Tensor":
        """(dim,). Raises SentenceError for a word that is not in the vocabulary."""
        if word not in self.ids:
            raise SentenceError(f"{word!r} is no single word of the vocabulary (lower case, three letters or more).")
        return self.table[self.ids[word]]

    def of(self, words: Iterable[str]) -> "Tensor":
        """The vectors of several words: (words, dim)"""
        from torch import stack

        return stack([self[word] for word in words])

    def similar(self, vector: "Tensor", count: int = 8) -> list[tuple[str, float]]:
        """The words whose vectors point most nearly where this one does, each with its cosine, best first."""
        table = self.table.to(vector.dtype)
        cosines = (table @ vector) / (table.norm(dim=1) * vector.norm())
        best = cosines.topk(count)
        words = list(self.ids)
        return [
            (words[place], round(float(cosine), 3))
            for cosine, place in zip(best.values, best.indices.tolist(), strict=True)
        ]

    def random(self, count: int = 10, seed: int | None = None) -> list[str]:
        """Some words of the vocabulary."""
        return random.Random(seed).sample(list(self.ids), count)


def trained_head(
    words: Iterable[str], layer: int, head: int, size: int = 32
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """What one trained head of ``mini`` works with, as NumPy arrays.

    -> the words' vectors (words, dim), each with mean 0 and variance 1 as after a LayerNorm, without positions;
    the head's matrices for queries and for keys (dim, size), without their biases
    """
    words = list(words)
    if not words:
        raise SentenceError("The sentence is empty: type at least one word.")
    from safetensors.numpy import load_file  # this notebook needs no PyTorch

    state = load_file(TOKENIZER_FILE.with_name("model.safetensors"))
    vocabulary = json.loads(TOKENIZER_FILE.read_text(encoding="utf-8"))["model"]["vocab"]
    if unknown := [word for word in words if word not in vocabulary]:
        raise SentenceError(f"{unknown[0]!r} is no single word of the vocabulary (lower case).")
    table = state["embeddings.word_embeddings.weight"].astype(np.float32)
    vectors = table[[vocabulary[word] for word in words]]
    vectors = (vectors - vectors.mean(-1, keepdims=True)) / vectors.std(-1, keepdims=True)
    rows = slice(size * head, size * (head + 1))
    query, key = (state[f"attention_layers.{layer}.{name}_lin.weight"][rows].T for name in ("q", "k"))
    return vectors, query.astype(np.float32), key.astype(np.float32)

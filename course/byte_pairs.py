"""Words of the reviews for byte-pair encoding, and the merges of a longer training, stored."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

STORED = Path(__file__).parent / "data" / "reviews" / "merges.json"


def word_counts(texts: Iterable[str]) -> dict[str, int]:
    """{word: how often}, the most frequent first; a word is a row of small letters."""
    counts = Counter(word for text in texts for word in re.findall(r"[a-z]+", text.lower()))
    return dict(counts.most_common())


def stored_merges() -> list[tuple[str, str]]:
    """A thousand merges of the reviews' words, as ``tools/make_merges.py`` learned them with tokenizers."""
    return [(left, right) for left, right in json.loads(STORED.read_text(encoding="utf-8"))]


def tokens_per_word(tokens: Mapping[str, int], words: Mapping[str, int]) -> float:
    """tokens: word -> in how many tokens it is cut; words: word -> how often it occurs"""
    return sum(tokens[word] * often for word, often in words.items()) / sum(words.values())


def attention_cost(tokens: Mapping[str, int], texts: Iterable[str]) -> float:
    """How many scores one head computes for a text, on average: the square of its tokens"""
    lengths = [sum(tokens[word] for word in re.findall(r"[a-z]+", text.lower())) for text in texts]
    return sum(length**2 for length in lengths) / len(lengths)

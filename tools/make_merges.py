"""Learns a thousand merges of the reviews' words with the library tokenizers, for ``decoder/6_byte_pair_encoding``.

python -m tools.make_merges        # writes course/data/reviews/merges.json, in a second
"""

import json
import string
from collections.abc import Mapping

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from course.byte_pairs import STORED, word_counts
from course.reviews import load_reviews


def learned(words: Mapping[str, int], number: int) -> list[tuple[str, str]]:
    """words: word -> how often -> the library's merges, in their order"""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    letters = list(string.ascii_lowercase)
    trainer = trainers.BpeTrainer(vocab_size=len(letters) + number, initial_alphabet=letters, show_progress=False)
    tokenizer.train_from_iterator((" ".join([word] * often) for word, often in words.items()), trainer)
    return [(left, right) for left, right in json.loads(tokenizer.to_str())["model"]["merges"]]


if __name__ == "__main__":
    STORED.write_text(json.dumps(learned(word_counts(load_reviews().train.texts), 1000)) + "\n", encoding="utf-8")

"""Words become tokens. Expected answers: in a second way; ``tests/decoder`` compares this with ``tokenizers``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from autograder.exercise import TEXT, Case, Exercise, Mistake, text_array, variant

from ._byte_pairs import LETTERS, Pair, drawn_words, merged, trained
from ._rules import spelling


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for number, merges in ((18, 8), (25, 14)):
        learned = trained(drawn_words(generator, number), merges)
        words = ["".join(generator.choice(list(LETTERS), int(generator.integers(1, 12)))) for _ in range(12)]
        made.append(_case(learned, [*words, "aaaaaaa"]))
    # the rank decides: bc was learned before ab
    a, b, c = generator.permutation(list("fghijk"))[:3].tolist()
    learned = [(b, c), (a, b), (a, b + c), (a + b, a + b)]
    made.append(_case(learned, [a + b + c, a + b, a + b + a + b, a + b + c + a + b, "xyz"]))
    return made


def _case(merges: list[Pair], words: list[str]) -> Case:
    config = {"merges": [list(pair) for pair in merges], "words": words}
    expected = {TEXT + "tokens": text_array([_tokens(word, merges) for word in words])}
    return Case(config, expected=expected | {"property/letters": np.array(list(map(len, words)))})


def _tokens(word: str, merges: list[Pair]) -> list[str]:
    """Always the pair that was learned first among those that are there"""
    symbols = list(word)
    while ranks := [merges.index(pair) for pair in pairwise(symbols) if pair in merges]:
        symbols = merged(symbols, merges[min(ranks)])
    return symbols


HEAD = "def encode(word, merges, merge):"
# The lines of the solution that mistakes change.
LOOP, START = "for pair in merges:", "symbols = tuple(word)"

MISTAKES = [
    Mistake("BPE-rank", "Merges were used in the order of the word, not in that in which they were learned.",
            "The one that was learned first comes first.",
            """def encode(word, merges, merge):
    symbols, i = tuple(word), 0
    while i < len(symbols) - 1:
        if symbols[i : i + 2] in merges:
            symbols = symbols[:i] + (symbols[i] + symbols[i + 1],) + symbols[i + 2 :]
            i = 0
        else:
            i += 1
    return list(symbols)
"""),
    Mistake("BPE-backwards", "The merge that was learned last was used first.", "In the order of the list.",
            (LOOP, "for pair in reversed(merges):")),
    Mistake("BPE-longest", "The longest known token was taken first, as WordPiece does.", "Merge by merge.",
            """def encode(word, merges, merge):
    known, tokens = {"".join(pair) for pair in merges}, []
    while word:
        size = next((n for n in range(len(word), 1, -1) if word[:n] in known), 1)
        tokens.append(word[:size])
        word = word[size:]
    return tokens
"""),
    Mistake("BPE-letters", "The word was cut into letters, and nothing was merged.", "Use the merges.",
            (LOOP, "for pair in ():")),
    Mistake("BPE-whole", "The word is one token.", "Begin with its letters.", (START, "symbols = (word,)")),
]  # fmt: skip

RIGHT = {
    "the best rank again and again": variant(HEAD, """
    ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
    symbols = tuple(word)
    while True:
        known = [pair for pair in zip(symbols, symbols[1:]) if pair in ranks]
        if not known:
            return list(symbols)
        symbols = tuple(merge(symbols, min(known, key=ranks.get)))
    """),
    "reduce": variant(HEAD, """
    from functools import reduce
    return [*reduce(merge, merges, tuple(word))]
    """),
    "a tuple": variant(HEAD, """
    symbols = tuple(word)
    for left, right in merges:
        if left + right in word:
            symbols = merge(symbols, (left, right))
    return tuple(symbols)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, spelling, MISTAKES, right=RIGHT, framework="numpy",
    shows=("merges in the order in which they were learned", "letters that were never merged"),
)  # fmt: skip

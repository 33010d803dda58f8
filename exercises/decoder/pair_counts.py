"""How often symbols are neighbours. Expected answers: one pair after the other is looked for in all words."""

from __future__ import annotations

import numpy as np

from autograder.exercise import TEXT, Case, Exercise, Mistake, compare_case, text_array, variant

from ._byte_pairs import counted, drawn_words, merged, trained


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for number, merges in ((9, 0), (12, 3), (6, 2)):
        words = drawn_words(generator, number) | {"aaab": 3, "e": 7}  # a run of equal letters; a word without pairs
        split = {tuple(word): often for word, often in words.items()}
        for pair in trained(words, merges):
            split = {tuple(merged(symbols, pair)): often for symbols, often in split.items()}
        made.append(_case(split))
    return made


def _case(split: dict[tuple[str, ...], int]) -> Case:
    counts = sorted(counted(split).items())
    config = {"words": [list(symbols) for symbols in split], "counts": list(split.values())}
    pairs = {TEXT + "pairs": text_array([list(pair) for pair, _ in counts])}
    return Case(config, expected=pairs | {"counts": np.array([often for _, often in counts], dtype=np.int64)})


HEAD = "def pair_counts(words):"
# Lines of the solution that mistakes change.
NEIGHBOURS, ADD = "zip(symbols, symbols[1:])", "counts.get(pair, 0) + often"

MISTAKES = [
    Mistake("BPE-often", "Each word counts once, however frequent it is.",
            "A pair in a word counts as often as the word.",
            (ADD, "counts.get(pair, 0) + 1")),
    Mistake("BPE-once", "A pair that a word has twice counts once in it.", "Every position counts.",
            (NEIGHBOURS, f"set({NEIGHBOURS})")),
    Mistake("BPE-last", "A pair has the frequency of the last word that has it.", "Add to what was counted before.",
            (ADD, "often")),
    Mistake("BPE-words", "The end of a word and the beginning of the next are no pair.", "Each word by itself.",
            """def pair_counts(words):
    counts, before = {}, None
    for symbols, often in words.items():
        for symbol in symbols:
            if before is not None:
                counts[before, symbol] = counts.get((before, symbol), 0) + often
            before = symbol
    return counts
"""),
    Mistake("BPE-turned", "Left and right are swapped.", "Left, then right.",
            (NEIGHBOURS, "zip(symbols[1:], symbols)")),
    Mistake("BPE-all", "Symbols that are no neighbours were counted.", "One next to the other.",
            (NEIGHBOURS, "[(a, b) for i, a in enumerate(symbols) for b in symbols[i + 1 :]]")),
    Mistake("BPE-letters", "Letters were counted, not symbols.", "A symbol may have several letters.",
            (NEIGHBOURS, 'zip("".join(symbols), "".join(symbols)[1:])')),
    Mistake("BPE-apart", "Pairs that overlap were not counted: aaa has two pairs.", "Every neighbour on the right.",
            (NEIGHBOURS, "zip(symbols[::2], symbols[1::2])")),
]  # fmt: skip

RIGHT = {
    "a Counter": variant(HEAD, """
    from collections import Counter
    counts = Counter()
    for symbols, often in words.items():
        for i in range(len(symbols) - 1):
            counts[symbols[i], symbols[i + 1]] += often
    return counts
    """),
    "every pair, then its sum": variant(HEAD, """
    found = [(pair, often) for symbols, often in words.items() for pair in zip(symbols, symbols[1:])]
    return {pair: sum(often for other, often in found if other == pair) for pair, _ in found}
    """),
    "a defaultdict": variant(HEAD, """
    from collections import defaultdict
    from itertools import pairwise
    counts = defaultdict(int)
    for symbols in words:
        for pair in pairwise(symbols):
            counts[pair] += words[symbols]
    return dict(counts)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="numpy",
    shows=("every pair of neighbours", "words count as often as they occur", "each word by itself"),
)  # fmt: skip

"""The merges of a text. Expected answers: in a second way; ``tests/decoder`` compares this with ``tokenizers``."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, TEXT, Case, Exercise, Mistake, pure, text_array, variant

from ._byte_pairs import LETTERS, drawn_words, ties, trained, without_ties


def cases(generator: np.random.Generator) -> list[Case]:
    made = [_case(without_ties(generator, number, merges), merges) for number, merges in ((14, 6), (20, 9))]
    often, letters = int(generator.integers(3, 30)), "".join(generator.permutation(list(LETTERS))[:3])
    # fewer pairs than merges; the last stands once
    made.append(_case({letters: often, letters[1:] + letters[0]: 1}, 9))
    tied: dict[str, int] = {}
    while ties(tied, 5) < 3 or ties(tied, 1) == 0:  # decided by the alphabet alone
        tied = drawn_words(generator, 10, most=3)
    return [*made, _case(tied, 5)]


def _case(words: dict[str, int], merges: int) -> Case:
    config = {"words": list(words), "counts": list(words.values()), "number": merges}
    return Case(config, expected={TEXT + "merges": text_array([list(pair) for pair in trained(words, merges)])})


HEAD = "def train(words, number, pair_counts, merge):"
# Lines of the solution that mistakes change.
BEST = "min(counts, key=lambda pair: (-counts[pair], pair))"
SPLIT = "split = {merge(symbols, best): often for symbols, often in split.items()}"
COUNT, STOP = "counts = pair_counts(split)", "if not counts:"
TIE = ("Of equally frequent pairs another one was taken.", "The first in the alphabet: min of the pairs themselves.")

MISTAKES = [
    Mistake("BPE-ties", *TIE, (BEST, "max(counts, key=counts.get)"), share=0.5),
    Mistake("BPE-ties-last", *TIE, (BEST, "max(counts, key=lambda pair: (counts[pair], pair))"), share=0.5),
    Mistake("BPE-rare", "The rarest pair was merged.", "The most frequent one.",
            (BEST, "min(counts, key=lambda pair: (counts[pair], pair))")),
    Mistake("BPE-alphabet", "The first pair in the alphabet was merged.", "The most frequent one.",
            (BEST, "min(counts)")),
    Mistake("BPE-again", "The words stayed as they were: each merge is the same.", "Merge in all words.",
            (SPLIT, "pass")),
    Mistake("BPE-stale", "The pairs were counted once, before all merges.", "After each merge, count again.",
            """def train(words, number, pair_counts, merge):
    counts = pair_counts({tuple(word): often for word, often in words.items()})
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:number]
"""),
    Mistake("BPE-more", "There is one merge too many.", "As many as number says.",
            ("range(number)", "range(number + 1)")),
    Mistake("BPE-joined", "These are tokens.", "The pairs are asked for: left and right.",
            ("merges.append(best)", 'merges.append("".join(best))')),
    Mistake("BPE-lost", "The words' frequencies were lost after the first merge.", "Each keeps its own.",
            (SPLIT, SPLIT.replace("best): often", "best): 1"))),
    Mistake("BPE-once", "It stops where the most frequent pair stands only once.", "Until no pair is left.",
            (STOP, "if max(counts.values(), default=0) < 2:")),
    CHANGED.by(("    return merges", "    words.clear()\n    return merges")),
    Mistake("", "stops with an error where no pair is left", "", (STOP, "if False:")),
]  # fmt: skip

RIGHT = {
    "sorted, and a while": variant(HEAD, """
    split, merges = [(tuple(word), often) for word, often in words.items()], []
    while len(merges) < number:
        counts = pair_counts(dict(split))
        if len(counts) == 0:
            break
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]
        merges.append(tuple(best))
        split = [(tuple(merge(symbols, best)), often) for symbols, often in split]
    return merges
    """),
    "until there are enough, or no pair": variant(HEAD, """
    table, merges = dict(zip(map(tuple, words), words.values())), []
    while len(merges) < number and (counts := pair_counts(table)):
        merges.append(min(sorted(counts), key=lambda pair: -counts[pair]))
        table = {merge(symbols, merges[-1]): often for symbols, often in table.items()}
    return merges
    """),
    "most, then the first of them": variant(HEAD, """
    split = {tuple(word): words[word] for word in words}
    merges = []
    for _ in range(number):
        counts = pair_counts(split)
        if counts:
            most = max(counts.values())
            best = min(pair for pair in counts if counts[pair] == most)
            split = {tuple(merge(symbols, best)): often for symbols, often in split.items()}
            merges.append(best)
    return merges
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="numpy",
    shows=("the most frequent pair first", "ties go by the alphabet", "stops where no pair is left"),
)  # fmt: skip

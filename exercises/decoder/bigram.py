"""Bigram probabilities, counted with the standard library."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for words, vocabulary in ((60, 7), (25, 5), (9, 11)):
        chances = generator.dirichlet(np.full(vocabulary, 0.7))
        ids = generator.choice(vocabulary, words, p=chances)
        ids[:4] = (1, 3, 3, 1)  # a word after itself, and a last word that others have followed
        ids[-2:] = (0, 3)
        counts = Counter(pairwise(ids.tolist()))
        rows = [[counts[first, then] + 1 for then in range(vocabulary)] for first in range(vocabulary)]
        logs = [[math.log(count / sum(row)) for count in row] for row in rows]
        made.append(Case({"vocabulary": vocabulary}, {"input_ids": ids}, expected={"logs": np.array(logs)}))
    return made


HEAD = "def bigram(ids, vocabulary):"
PLUS = "Every pair gets one count more than it has."
ROWS = "After each word, the next words share 1."
# Lines of the solution that mistakes change.
ONES = "torch.ones(vocabulary, vocabulary)"
PAIRS = "(ids[:-1], ids[1:])"
PUT = f"counts.index_put_({PAIRS}, torch.tensor(1.0), accumulate=True)"
RESULT = "(counts / counts.sum(dim=1, keepdim=True)).log()"
BELOW = "counts.sum(dim=1, keepdim=True)"
NONE_ADDED = (ONES, "torch.zeros(vocabulary, vocabulary)")

MISTAKES = [
    Mistake("D5-turned", "Rows and columns are swapped.", "Row: the word before; column: the next one.",
            (PAIRS, "(ids[1:], ids[:-1])")),
    Mistake("D5-columns", "The columns sum to 1, not the rows.", ROWS, (BELOW, "counts.sum(dim=0)")),
    Mistake("D5-whole", "The whole table sums to 1, not each row.", ROWS, (BELOW, "counts.sum()")),
    Mistake("D5-zero", "Pairs that were never seen get the probability 0.", PLUS, NONE_ADDED),
    Mistake("D5-seen", "Pairs that were never seen get no count of their own.", PLUS, NONE_ADDED,
            (RESULT, "(counts.clamp(min=1) / counts.clamp(min=1).sum(1, keepdim=True)).log()")),
    Mistake("D5-divided", "The counts grew by one each, but the sum that they are divided by did not.", PLUS,
            (BELOW, f"({BELOW} - vocabulary)")),
    Mistake("D5-plus-one", "The sum grew by 1, not by 1 for each word.", PLUS,
            (BELOW, f"({BELOW} - vocabulary + 1)")),
    Mistake("D5-exp", "These are probabilities.", "Their logarithms are asked for.", (".log()", "")),
    Mistake("D5-counts", "These are counts.", "Divide by the row's sum, then take the logarithm.", (RESULT, "counts")),
    Mistake("D5-softmax", "A softmax of the counts gives other probabilities.", "Count over the row's sum.",
            (RESULT, "counts.log_softmax(1)")),
    Mistake("D5-base", "The logarithm has base 2.", "The natural one.", (".log()", ".log2()")),
    Mistake("D5-once", "A pair counts once, however often it is there.", "index_put_ with accumulate=True, or a loop.",
            (PUT, "counts[ids[:-1], ids[1:]] += 1")),
    Mistake("D5-round", "The last word is followed by the first one.", "n words have n - 1 pairs.",
            (PAIRS, "(ids, ids.roll(-1))")),
    Mistake("D5-gap", "The pairs have a word between them.", "Neighbours.", (PAIRS, "(ids[:-2], ids[2:])")),
    Mistake("D5-same", "Each word is paired with itself.", "The next word is one position further on.",
            (PAIRS, "(ids, ids)")),
    CHANGED.by((PUT, """while len(ids) > 1:
        counts[ids[0], ids[1]] += 1
        ids[0], ids = -1, ids[1:]""")),
]  # fmt: skip

RIGHT = {
    "a loop over pairs": variant(HEAD, """
        counts = torch.ones(vocabulary, vocabulary)
        for first, then in zip(ids[:-1], ids[1:]):
            counts[first, then] += 1
        return (counts / counts.sum(dim=1, keepdim=True)).log()
    """),
    "bincount": variant(HEAD, """
        pairs = torch.bincount(ids[:-1] * vocabulary + ids[1:], minlength=vocabulary**2)
        counts = pairs.view(vocabulary, vocabulary) + 1.0
        return counts.log() - counts.sum(1, keepdim=True).log()
    """),
    "one-hot vectors": variant(HEAD, """
        hot = F.one_hot(ids, vocabulary).float()
        counts = hot[:-1].T @ hot[1:] + 1
        return torch.log(counts / counts.sum(-1)[:, None])
    """),
    "index_put": variant(HEAD, """
        counts = torch.zeros(vocabulary, vocabulary).index_put((ids[:-1], ids[1:]), torch.tensor(1.0), accumulate=True)
        return F.normalize(counts + 1, p=1, dim=1).log()
    """),
    "a dictionary": variant(HEAD, """
        from collections import Counter
        words = ids.tolist()
        seen, before = Counter(zip(words, words[1:])), Counter(words[:-1])
        return torch.tensor([[math.log((seen[i, j] + 1) / (before[i] + vocabulary)) for j in range(vocabulary)]
                             for i in range(vocabulary)])
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch",
    shows=("every row sums to 1", "no probability is 0", "neighbours are counted"),
    axes={"logs": "word before, next word"},
)  # fmt: skip

"""Two symbols become one. Expected answers: with one character per symbol this is ``str.replace``."""

from __future__ import annotations

import numpy as np

from autograder.exercise import TEXT, Case, Exercise, Mistake, text_array, variant

from ._byte_pairs import LETTERS, Pair, merged
from ._rules import spelling

Word = list[str]


def cases(generator: np.random.Generator) -> list[Case]:
    fixed: list[tuple[Word, Pair]] = [
        (["a", "a", "a", "b"], ("a", "a")),
        (["a", "a", "a", "a", "a"], ("a", "a")),
        (["ba", "b", "a", "ab", "a"], ("a", "b")),  # the letters a and b, but not as these two symbols
        (["ab", "c", "ab", "c"], ("ab", "c")),
        (["c"], ("c", "c")),
    ]
    for _ in range(4):
        word = [str(symbol) for symbol in generator.choice([*LETTERS[:3], "ab"], 9)]
        at = int(generator.integers(8))
        fixed.append((word, (word[at], word[at + 1])))
    words, pairs = zip(*fixed, strict=True)
    results = [merged(word, pair) for word, pair in fixed]
    config = {"words": list(words), "pairs": [list(pair) for pair in pairs]}
    letters = np.array([len("".join(word)) for word in words])
    return [Case(config, expected={TEXT + "symbols": text_array(results), "property/letters": letters})]


HEAD = "def merge(symbols, pair):"
# Lines of the solution that mistakes change.
EQUAL, STEP, JOINED = "symbols[i : i + 2] == pair", "i += 2", "symbols[i] + symbols[i + 1]"

MISTAKES = [
    Mistake("BPE-twice", "A symbol takes part in two merges: of aaa, aa and aa were made.",
            "Go on after the second of the two.", (STEP, "i += 1")),
    Mistake("BPE-first", "Only the first pair was merged.", "All of them, from left to right.",
            (EQUAL, f"{EQUAL} and len(merged) == i")),
    Mistake("BPE-right", "Pairs were merged from right to left: aaa is aa, a.", "From left to right.",
            """def merge(symbols, pair):
    merged, i = [], len(symbols) - 1
    while i >= 0:
        if i > 0 and symbols[i - 1 : i + 1] == pair:
            merged.insert(0, symbols[i - 1] + symbols[i])
            i -= 2
        else:
            merged.insert(0, symbols[i])
            i -= 1
    return tuple(merged)
"""),
    Mistake("BPE-text", "Letters were merged, not symbols: a symbol that ends with a is not a.",
            "Compare whole symbols.",
            """def merge(symbols, pair):
    return tuple(" ".join(symbols).replace(" ".join(pair), "".join(pair)).split())
"""),
    Mistake("BPE-left", "Only the left symbol is left of a pair.", "Left and right, joined.", (JOINED, "symbols[i]")),
    Mistake("BPE-either", "Symbols in the other order were merged, too.", "Left, then right.",
            (EQUAL, f"{EQUAL} or symbols[i : i + 2] == pair[::-1]")),
    Mistake("BPE-nothing", "Nothing was merged.", "Join the two wherever they are neighbours.", (EQUAL, "False")),
]  # fmt: skip

RIGHT = {
    "a list, taken from the end": variant(HEAD, """
    rest, done = list(symbols)[::-1], []
    while rest:
        left = rest.pop()
        if rest and (left, rest[-1]) == tuple(pair):
            left += rest.pop()
        done.append(left)
    return tuple(done)
    """),
    "the rest is the same task": variant(HEAD, """
    if len(symbols) < 2:
        return tuple(symbols)
    first, second, *rest = symbols
    if (first, second) == tuple(pair):
        return (first + second, *merge(tuple(rest), pair))
    return (first, *merge(tuple(symbols[1:]), pair))
    """),
    "a flag": variant(HEAD, """
    done, skip = [], False
    for left, right in zip(symbols, (*symbols[1:], None)):
        if skip:
            skip = False
        elif right is not None and left == pair[0] and right == pair[1]:
            done.append(left + right)
            skip = True
        else:
            done.append(left)
    return done
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, spelling, MISTAKES, right=RIGHT, framework="numpy",
    shows=("from left to right", "each symbol in one merge", "whole symbols"),
)  # fmt: skip

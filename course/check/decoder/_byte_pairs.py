"""Ready-made parts for the exercises that take them as arguments: with one character per symbol, by ``str.replace``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

Pair = tuple[str, str]


def counts(words: Mapping[Sequence[str], int]) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for symbols, often in words.items():
        text = " ".join(symbols)
        for pair in re.findall(r"(?=(?:^| )(\S+) (\S+))", text):
            found[pair] += often
    return found


def joined(symbols: Sequence[str], pair: Pair) -> tuple[str, ...]:
    left, right = map(re.escape, pair)
    return tuple(re.sub(rf"(?<!\S){left} {right}(?!\S)", "".join(pair), " ".join(symbols)).split(" "))

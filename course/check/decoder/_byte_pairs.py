"""Ready-made parts for exercises that take them as arguments: regular expressions, symbols with spaces between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

Pair = tuple[str, str]


def counts(words: Mapping[Sequence[str], int]) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for word in words:
        neighbours = Counter(re.findall(r"(?=(?:^| )(\S+) (\S+))", " ".join(word)))
        found.update({pair: words[word] * count for pair, count in neighbours.items()})
    return found


def joined(symbols: Sequence[str], pair: Pair) -> tuple[str, ...]:
    left, right = map(re.escape, pair)
    return tuple(re.sub(rf"(?<!\S){left} {right}(?!\S)", "".join(pair), " ".join(symbols)).split(" "))

"""Byte-pair encoding in a second way: each symbol is one character, and merging is ``str.replace``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

Pair = tuple[str, str]
LETTERS = "abcde"


class Symbols:
    """Texts of symbols as texts of single characters, from the private area where a symbol has several letters."""

    def __init__(self) -> None:
        self.character: dict[str, str] = {}

    def of(self, symbol: str) -> str:
        return symbol if len(symbol) == 1 else self.character.setdefault(symbol, chr(0xE000 + len(self.character)))

    def packed(self, symbols: Sequence[str]) -> str:
        return "".join(map(self.of, symbols))

    def unpacked(self, text: str) -> list[str]:
        symbol = {character: name for name, character in self.character.items()}
        return [symbol.get(character, character) for character in text]


def counted(words: Mapping[tuple[str, ...], int]) -> dict[Pair, int]:
    """{symbols: frequency} -> {pair: how often its halves are neighbours}, pair by pair"""
    pairs = {pair for symbols in words for pair in pairwise(symbols)}
    return {pair: sum(often * neighbours(symbols, pair) for symbols, often in words.items()) for pair in pairs}


def neighbours(symbols: Sequence[str], pair: Pair) -> int:
    return sum(tuple(symbols[i : i + 2]) == pair for i in range(len(symbols)))


def merged(symbols: Sequence[str], pair: Pair) -> list[str]:
    known = Symbols()
    joined = known.of("".join(pair))
    return known.unpacked(known.packed(symbols).replace(known.packed(pair), joined))


def trained(words: Mapping[str, int], number: int) -> list[Pair]:
    """The merges, ties broken by the alphabet"""
    split = {tuple(word): often for word, often in words.items()}
    merges: list[Pair] = []
    while len(merges) < number and (counts := counted(split)):
        most = max(counts.values())
        merges.append(min(pair for pair, often in counts.items() if often == most))
        split = {tuple(merged(symbols, merges[-1])): often for symbols, often in split.items()}
    return merges


def ties(words: Mapping[str, int], number: int) -> int:
    """At how many of the merges several pairs are equally frequent"""
    split, found = {tuple(word): often for word, often in words.items()}, 0
    for pair in trained(words, number):
        counts = counted(split)
        found += sum(often == counts[pair] for often in counts.values()) > 1
        split = {tuple(merged(symbols, pair)): often for symbols, often in split.items()}
    return found


def drawn_words(generator: np.random.Generator, number: int, letters: str = LETTERS, most: int = 40) -> dict[str, int]:
    """Words of two to seven letters, some letters far more frequent than others, with frequencies"""
    chances = generator.dirichlet(np.full(len(letters), 1.5))
    words: dict[str, int] = {}
    while len(words) < number:
        length = int(generator.integers(2, 8))
        words["".join(generator.choice(list(letters), length, p=chances))] = int(generator.integers(1, most))
    return words


def without_ties(generator: np.random.Generator, number: int, merges: int) -> dict[str, int]:
    while True:
        words = drawn_words(generator, number)
        if ties(words, merges) == 0 and len(trained(words, merges)) == merges:
            return words

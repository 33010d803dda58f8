"""Lines that mark regions of a notebook: those that nbgrader knows, and those that only look so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")
KNOWN = tuple(f"{word} {region}" for region in REGIONS for word in ("BEGIN", "END"))
#: How a comment begins in the languages of notebooks, Markdown and HTML among them, and nbgrader's own ``=== ... ===``.
_COMMENT = r"(?:#+|//+|/\*+|<!--+|={2,}|%+|--(?=\s)|;+|\*{2,}|>+)"
_SHOUTED = re.compile(rf"{_COMMENT}\s*(?:BEGIN|END)[\s_:-]+[A-Z]{{3,}}")
_AFTER_COMMENT = re.compile(rf"{_COMMENT}\s*(.*)$")
_LETTERS = re.compile(r"[^A-Z]+")
#: Words that share so much with the right ones are taken for them: one letter wrong, too many or too few.
_ENOUGH = 0.75
_MAX_LINE = 80


def marker_lines(text: str) -> Iterator[str]:
    """Every line that is a marker or looks like one, in whatever spelling and behind whatever sign of a comment."""
    for line in text.split("\n"):
        stripped = line.strip()
        if _looks_like_one(stripped):
            yield stripped[:_MAX_LINE]


def misspelt(text: str) -> Iterator[str]:
    """The lines that look like a marker and that nbgrader passes over."""
    return (line for line in marker_lines(text) if not any(known in line for known in KNOWN))


def _looks_like_one(line: str) -> bool:
    if any(known in line for known in KNOWN):
        return True
    if len(line) > _MAX_LINE:
        return False
    if _SHOUTED.search(line):
        return True
    behind = _AFTER_COMMENT.search(line)
    return any(_resembles(part) for part in (line, behind[1] if behind else ""))


def _resembles(part: str) -> bool:
    letters = _LETTERS.sub("", part.upper())
    return (
        8 <= len(letters) <= 24
        and letters[0] in "BEGIND"
        and any(
            _alike(letters[:cut], word) and _alike(letters[cut:], region.replace(" ", ""))
            for word in ("BEGIN", "END")
            for cut in range(len(word) - 1, len(word) + 2)
            for region in REGIONS
        )
    )


def _alike(letters: str, word: str) -> bool:
    return SequenceMatcher(None, letters, word, autojunk=False).ratio() >= _ENOUGH

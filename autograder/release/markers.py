"""Lines that mark regions of a notebook: those that nbgrader knows, and those that are meant to be one of them."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")
KNOWN = tuple(f"{word} {region}" for region in REGIONS for word in ("BEGIN", "END"))
#: How a comment begins in the languages of notebooks, Markdown and HTML among them, and nbgrader's own ``=== ... ===``.
_COMMENT = r"(?:#+|//+|/\*+|<!--+|={2,}|%+|--(?=\s)|;+|\*{2,}|>+)"
_SHOUTED = re.compile(rf"{_COMMENT}\s*(?:BEGIN|END)[\s_:-]+([A-Z]{{3,}}.*)")
#: Words that say that a region is to be hidden. "BEGIN TESTS", say, is a heading, or a marker of another tool.
_TO_HIDE = re.compile(r"SOL|ANSW|HID|SCHEM|RUBRIC|SECRET")
_AFTER_COMMENT = re.compile(rf"{_COMMENT}\s*(.*)$")
_LETTERS = re.compile(r"[^A-Z]+")
#: Words that share so much with the right ones are taken for them: one letter wrong, too many or too few.
_ENOUGH = 0.75
_MAX_LINE = 80


def marker_lines(text: str) -> Iterator[str]:
    """Every line that is a marker or is meant as one, in whatever spelling and after whatever sign of a comment."""
    return (line[:_MAX_LINE] for line in _lines(text) if _is_meant(line))


def misspelt(text: str) -> Iterator[str]:
    """The lines that are meant as a marker and that nbgrader passes over."""
    return (line for line in marker_lines(text) if not any(known in line for known in KNOWN))


def other_markers(text: str) -> Iterator[str]:
    """The lines that look like a marker of something that nbgrader does not know and need not hide."""
    return (line for line in _lines(text) if len(line) <= _MAX_LINE and _SHOUTED.search(line) and not _is_meant(line))


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.split("\n"))


@lru_cache(maxsize=1 << 14)  # source and release have most lines in common
def _is_meant(line: str) -> bool:
    if any(known in line for known in KNOWN):
        return True
    if len(line) > _MAX_LINE:
        return False
    shouted = _SHOUTED.search(line)
    if shouted and _TO_HIDE.search(shouted[1].upper()):
        return True
    after_comment = _AFTER_COMMENT.search(line)
    return any(_resembles(part) for part in (line, after_comment[1] if after_comment else ""))


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

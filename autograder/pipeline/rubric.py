"""The lines of a mark scheme, each of which a person can give by one click."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.pipeline.mark_scheme import SCHEME

_WORDS = {"half a": 0.5, "one": 1.0, "two": 2.0, "three": 3.0}
_POINTS = rf"(?P<points>\d+(?:\.\d+)?|{'|'.join(_WORDS)}) (?:points?|marks?)\b"
_STATED = (re.compile(rf"^{_POINTS}", re.IGNORECASE), re.compile(rf"\({_POINTS}\)\.?$", re.IGNORECASE))
#: A blank line, or the beginning of an item of a list, ends what stands before it.
_BREAK = re.compile(r"\n[ \t]*\n|^[ \t]*(?:[-*+]|\d+[.)])[ \t]+", re.MULTILINE)
#: Markdown's marks around code and emphasis. Buttons and comments are plain text and would show them.
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,2}|_{1,2})(?=[^\s*_])(.+?)(?<=[^\s*_])\1(?!\w)")
#: What follows is the comment that the student reads; without it, the whole line is.
_FOR_STUDENTS = re.compile(r"\s*\bTo the student:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class RubricLine:
    """``points``: 0 for a line that only says something. ``comment``: what the student reads."""

    text: str
    points: float = 0.0
    said: str = ""

    @property
    def comment(self) -> str:
        return self.said or self.text

    @property
    def name(self) -> str:
        """The text without its points, which may change."""
        text = self.text
        for stated in _STATED:
            text = stated.sub("", text)
        return text.strip(" :,.").casefold()


def rubric_lines(source: str) -> list[RubricLine]:
    """The paragraphs and items of a cell's mark scheme as plain text, with the points that they begin or end with.

    source: the instructor's cell.
    """
    scheme = "\n\n".join(found["scheme"] for found in SCHEME.finditer(source))
    texts = dict.fromkeys(_plain(" ".join(part.split())) for part in _BREAK.split(scheme))
    return [_line(text) for text in texts if text]


def _line(text: str) -> RubricLine:
    own, *said = _FOR_STUDENTS.split(text, maxsplit=1)
    return RubricLine(own, _points(own), said[0] if said else "") if own else RubricLine(said[0])


def _plain(markdown: str) -> str:
    """The words without Markdown's marks; what stands in code is kept as it is."""
    code = [found[2].strip() for found in _CODE.finditer(markdown)]
    words = _EMPHASIS.sub(r"\2", _CODE.sub("\0", markdown.replace("\0", ""))).split("\0")
    return "".join(part + kept for part, kept in zip(words, [*code, ""], strict=True))


def _points(text: str) -> float:
    for stated in _STATED:
        if found := stated.search(text):
            said = found["points"].lower()
            return _WORDS[said] if said in _WORDS else float(said)
    return 0.0

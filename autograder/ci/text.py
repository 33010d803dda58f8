"""Words that a submission had a hand in, made fit for a results file: readable, bounded, no line of a hidden test."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.plain_text import paragraph

_MAX_LENGTH = 4000
_HIDDEN_LINE = "[a line of the grader's own]"
#: A hidden line shorter than this says nothing, and may stand in anybody's code.
_TELLING = 20
#: What no XML 1.0 document can hold, whether escaped or not (https://www.w3.org/TR/xml/#charsets).
_NO_XML = re.compile("[^\\t\\n\\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """The text without colours; control characters and direction marks are shown as escapes. Cut far above its use."""
    return _NO_XML.sub("", paragraph(text, 10 * _MAX_LENGTH))


class Words:
    """Cleans texts for one assignment."""

    def __init__(self, source: Iterable[NotebookNode]) -> None:
        """source: the instructor's notebooks, whose hidden lines no text may quote."""
        hidden: set[str] = set()
        shown: list[str] = []
        for cell in (cell for notebook in source for cell in notebook.cells):
            parts = cells.split_hidden(cell.source)
            hidden |= {line.strip() for line in parts.hidden.split("\n") if len(line.strip()) >= _TELLING}
            shown.append(parts.visible)
        everything_shown = "\n".join(shown)
        telling = sorted((line for line in hidden if line not in everything_shown), key=len, reverse=True)
        self._hidden = re.compile("|".join(map(re.escape, telling))) if telling else None

    def clean(self, text: str) -> str:
        """The printable text without hidden lines, at most 4000 characters of it."""
        plain = printable(text)
        if self._hidden is not None:
            plain = self._hidden.sub(_HIDDEN_LINE, plain)
        return plain if len(plain) <= _MAX_LENGTH else plain[:_MAX_LENGTH] + " …"

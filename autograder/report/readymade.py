"""Ready-made parts in students' own code: worth a look, and no fault in itself."""

from __future__ import annotations

import re
import tokenize
from collections import defaultdict
from collections.abc import Mapping, Sequence

from autograder.report.code import Answer, tokens


def ready_made(answers: Sequence[Answer], patterns: Mapping[str, str]) -> list[tuple[str, str, tuple[str, ...]]]:
    """(part, place, students) for every ready-made part that an answer uses and its stub did not.

    patterns: what a part is called -> how it is found in the code without comments, strings and spaces.
    """
    parts = {name: re.compile(pattern) for name, pattern in patterns.items()}
    uses: dict[tuple[str, str], set[str]] = defaultdict(set)
    for answer in answers:
        text, handed_out = _plain(answer.source), _plain(answer.stub)
        for name, pattern in parts.items():
            if pattern.search(text) and not pattern.search(handed_out):
                uses[name, answer.place].add(answer.student)
    order = list(parts)
    return [
        (name, place, tuple(sorted(students)))
        for (name, place), students in sorted(uses.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    ]


def _plain(source: str) -> str:
    """The code as words with one space between them and none around dots, without comments and strings."""
    left_out = (tokenize.STRING, tokenize.INDENT, tokenize.DEDENT)
    words = [
        "\n" if token.kind == tokenize.NEWLINE else token.text for token in tokens(source) if token.kind not in left_out
    ]
    return re.sub(r" ?\. ?", ".", " ".join(words))

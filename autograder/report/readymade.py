"""Ready-made parts in students' own code: worth a look, and no fault in itself."""

from __future__ import annotations

import re
import tokenize
from collections import defaultdict
from collections.abc import Sequence

from autograder.report.code import Answer, tokens

#: What is shown -> where it is found in the code without comments, strings and spaces.
PARTS = {
    "nn.MultiheadAttention": r"\bMultiheadAttention\b",
    "nn.TransformerEncoderLayer": r"\bTransformer(En|De)coder(Layer)?\b",
    "nn.Transformer": r"\bnn\.Transformer\b",
    "scaled_dot_product_attention": r"\bscaled_dot_product_attention\b",
    "transformers": r"\b(import|from) transformers\b|\btransformers\.",
    "course.figures": r"\bfigures\.(attention_heatmaps|head_grid)\b",
    "course.parts": r"\bfrom course import [^\n]*\bparts\b|\bcourse\.parts\b|\bparts\.",
}
_FOUND = {name: re.compile(pattern) for name, pattern in PARTS.items()}


def ready_made(answers: Sequence[Answer]) -> list[tuple[str, str, tuple[str, ...]]]:
    """(part, place, students) for every ready-made part that an answer uses and its stub did not."""
    uses: dict[tuple[str, str], set[str]] = defaultdict(set)
    for answer in answers:
        text, handed_out = _plain(answer.source), _plain(answer.stub)
        for name, pattern in _FOUND.items():
            if pattern.search(text) and not pattern.search(handed_out):
                uses[name, answer.place].add(answer.student)
    order = list(PARTS)
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

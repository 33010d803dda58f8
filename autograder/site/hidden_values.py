"""Numbers and words that only hidden tests name: an output that shows one tells what a test expects.

Values that are stored as references are searched for in the finished site (``autograder/release/leaks/``). These here
stand in the test itself, as in ``assert round(mean(ages), 4) == 31.2083``.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation

from nbformat import NotebookNode

from autograder.model import cells

#: Shorter values occur by chance: digits of a number in the test and where it is printed, letters of a word.
MIN_DIGITS, MIN_PRINTED, MIN_LETTERS = 4, 3, 4
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w|\.\d)")
_COLOURS, _TAG = re.compile(r"\x1b\[[\d;]*m"), re.compile(r"<[^>]*>")
_EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN)
_WRITTEN = ("text/plain", "text/html", "text/markdown", "text/latex")


@dataclass(frozen=True)
class HiddenValues:
    numbers: frozenset[Decimal]
    words: frozenset[str]

    @classmethod
    def of(cls, notebook: NotebookNode) -> HiddenValues:
        """What hidden tests of the instructor's notebook name, and no text or code that students see."""
        numbers: set[Decimal] = set()
        words: set[str] = set()
        shown = []
        for cell in notebook.cells:
            parts = cells.split_hidden(cell.source)
            if not cells.is_solution(cell):
                shown.append(parts.visible)
            if cell.cell_type == "code" and parts.hidden:
                try:
                    tree = cells.parse(parts.hidden)
                except SyntaxError:
                    continue
                numbers |= set(_numbers(map(ast.unparse, _constants(tree, int, float))))
                words |= {str(one.value) for part in _compared(tree) for one in _constants(part, str)}
        text = "\n".join(shown)
        known = set(_numbers([text]))
        return cls(
            frozenset(one for one in numbers - known if _digits(one) >= MIN_DIGITS),
            frozenset(one for one in words if len(one.strip()) >= MIN_LETTERS and one not in text),
        )

    def shown_in(self, outputs: Sequence[NotebookNode]) -> bool:
        """Whether an output shows one of them, a number perhaps with fewer or more digits."""
        if not self.numbers and not self.words:
            return False
        text = "\n".join(map(_text, outputs))
        printed = [one for one in _numbers([text]) if _digits(one) >= MIN_PRINTED]
        return any(word in text for word in self.words) or any(
            _alike(number, one) or _alike(one, number) for number in self.numbers for one in printed
        )


def _constants(tree: ast.AST, *kinds: type) -> Iterator[ast.Constant]:
    return (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and type(one.value) in kinds)


def _compared(tree: ast.AST) -> Iterator[ast.AST]:
    """What a test compares with something: by ``==``, or by a function such as ``assertEqual``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and all(isinstance(one, ast.Eq) for one in node.ops):
            yield from (side for side in (node.left, *node.comparators) if not isinstance(side, ast.Call))
        elif isinstance(node, ast.Call) and "equal" in ast.unparse(node.func).lower():
            yield from (side for side in node.args if not isinstance(side, ast.Call))


def _numbers(texts: Iterable[str]) -> Iterator[Decimal]:
    for found in (one for text in texts for one in _NUMBER.findall(text)):
        try:
            yield Decimal(found)
        except InvalidOperation:
            continue


def _digits(number: Decimal) -> int:
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))


def _alike(number: Decimal, rounded: Decimal) -> bool:
    """Whether the second is the first, rounded to the digits that it has."""
    if number.is_zero() or rounded.is_zero() or abs(number.adjusted() - rounded.adjusted()) > 1:
        return False
    try:
        return number.quantize(rounded, context=_EXACT) == rounded
    except InvalidOperation:
        return False


def _text(output: NotebookNode) -> str:
    data = output.get("data", {})
    about = output.get("metadata", {}).get("image/png", {})
    said = [output.get("text", ""), output.get("evalue", ""), str(about.get("alt", ""))]
    said += [html.unescape(_TAG.sub(" ", data[kind])) if kind == "text/html" else data[kind]
             for kind in _WRITTEN if kind in data]  # fmt: skip
    return _COLOURS.sub("", "\n".join(said))

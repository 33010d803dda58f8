"""Free versions: students get signatures and docstrings, where the guided version gives lines around the gaps.

Made of the same source and graded by the same hidden cells. Each solution region grows to the whole body of the
function or method that it stands in; what stands in no function stays as it is.

Stretch goals nobody grades: ``stretch = "fold"`` in ``course.toml`` asks for a fold with a solution below their check,
made of the instructor's solution whenever a notebook is read for students, so that no second copy can differ from it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.model import cells
from autograder.model.cells import parse

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Body:
    """Lines ``first`` up to, and without, ``end``, of a function's body behind its docstring; from 0."""

    first: int
    end: int
    indent: str


def widened(source: str, begin: str, end: str) -> str:
    """``source`` with every solution region grown to the whole body of its function. Docstrings stay outside.

    begin, end: the words in the marker lines. Python that cannot be read is left as it is.
    """
    lines = source.split("\n")
    regions = list(_regions(lines, begin, end))
    try:
        functions = list(_outermost(parse(source)))
    except SyntaxError:
        return source
    for function in reversed(functions):
        inside = [one for one in regions if function.lineno - 1 < one[0] and one[0] <= _last(function, lines)]
        if not inside or function.body[0].lineno == function.lineno:
            continue
        body = _body(function, lines, inside[-1][1])
        kept = [line for line in lines[body.first : body.end] if begin not in line and end not in line]
        lines[body.first : body.end] = [f"{body.indent}### {begin}", *kept, f"{body.indent}### {end}"]
    return "\n".join(lines)


def _regions(lines: list[str], begin: str, end: str) -> Iterator[tuple[int, int]]:
    """(line of the first marker, line of the second) of every region that has both."""
    opened: int | None = None
    for number, line in enumerate(lines):
        if begin in line:
            opened = number
        elif end in line and opened is not None:
            yield opened, number
            opened = None


def _outermost(tree: ast.AST) -> Iterator[_Function]:
    """Functions and methods in order, without those inside of others."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Function):
            yield node
        else:
            yield from _outermost(node)


def _last(function: _Function, lines: list[str]) -> int:
    """The function's last line, comments behind its last statement included."""
    assert function.end_lineno is not None
    last = function.end_lineno - 1
    depth = function.body[0].col_offset
    for number in range(last + 1, len(lines)):
        text = lines[number].lstrip()
        if text and (not text.startswith("#") or len(lines[number]) - len(text) < depth):
            break
        last = number if text else last
    return last


def _body(function: _Function, lines: list[str], last_marker: int) -> _Body:
    first = function.body[0]
    docstring = ast.get_docstring(function, clean=False) is not None
    start = (first.end_lineno or first.lineno) if docstring else first.lineno - 1
    while not docstring and start > function.lineno and lines[start - 1].lstrip()[:1] in ("", "#"):
        start -= 1  # comments above the first statement belong to the body
    return _Body(start, max(_last(function, lines), last_marker) + 1, " " * first.col_offset)


#: What ``stretch`` in ``course.toml`` may say.
CHOICES = ("fold", "none")
_MARKER = re.compile(r"(?m)^[ \t]*### (?:BEGIN|END) SOLUTION[^\n]*\n?")
_HEADING = re.compile(r"(#+) ")


def stretch_answers(notebook: NotebookNode) -> list[int]:
    """Where the answers stand in whose section no cell is graded. A section ends at a heading of its level or above."""
    graded: set[int] = set()  # sections, by the number of their heading's cell
    above: list[tuple[int, int]] = []  # (level, section) of the headings above the cell
    answers: list[tuple[int, int]] = []  # (cell, section)
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown" and (heading := _HEADING.match(cell.source)):
            above = [one for one in above if one[0] < len(heading[1])] + [(len(heading[1]), number)]
        elif cells.is_graded(cell):
            graded |= {section for _, section in above}
        elif cell.cell_type == "code" and cells.is_solution(cell) and above:
            answers.append((number, above[-1][1]))
    return [number for number, section in answers if section not in graded]


def fold_id(cell: NotebookNode) -> str:
    return f"{cell.get('id') or cells.grade_id(cell)}-solution"


def add_folds(notebook: NotebookNode) -> NotebookNode:
    """Below the check of each stretch goal a fold with its solution; returns the same notebook.

    An answer without the marks of a solution, such as a student's, gets none, nor one whose cell says
    ``"course": {"fold": false}`` in its metadata: its solution would show part of a graded one.
    """
    there = {cell.get("id") for cell in notebook.cells}
    for number in reversed(stretch_answers(notebook)):
        answer = notebook.cells[number]
        wanted = answer.metadata.get("course", {}).get("fold", True)
        if not wanted or not _MARKER.search(answer.source) or fold_id(answer) in there:
            continue
        following = range(number + 1, len(notebook.cells))
        check = next((place for place in following if notebook.cells[place].cell_type == "code"), number)
        code = _MARKER.sub("", answer.source).strip()
        text = f"<details><summary>A solution</summary>\n\n```python\n{code}\n```\n\n</details>"
        notebook.cells.insert(check + 1, new_markdown_cell(text, id=fold_id(answer)))
    return notebook

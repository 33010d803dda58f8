"""The words nbgrader writes into cells, in one place: ids, points, hidden regions."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nbformat import NotebookNode

BEGIN_HIDDEN = "BEGIN HIDDEN TESTS"
END_HIDDEN = "END HIDDEN TESTS"


def nbgrader(cell: NotebookNode) -> dict[str, Any]:
    """The cell's nbgrader metadata, empty where it has none."""
    return dict(cell.metadata.get("nbgrader", {}))


def grade_id(cell: NotebookNode) -> str | None:
    return nbgrader(cell).get("grade_id")


def is_graded(cell: NotebookNode) -> bool:
    return bool(nbgrader(cell).get("grade"))


def is_solution(cell: NotebookNode) -> bool:
    return bool(nbgrader(cell).get("solution"))


def is_protected(cell: NotebookNode) -> bool:
    """True where the student's text counts for nothing: graded tests and locked cells."""
    marks = nbgrader(cell)
    return bool(marks.get("grade_id")) and not marks.get("solution") and bool(marks.get("grade") or marks.get("locked"))


def is_judged(cell: NotebookNode) -> bool:
    """True for a cell whose points the judge gives: graded, and not an answer to be read by a human."""
    return is_graded(cell) and not is_solution(cell) and cell.cell_type == "code"


def is_written(cell: NotebookNode) -> bool:
    """True for an answer that a human reads and gives points for."""
    return is_graded(cell) and is_solution(cell)


def max_points(cell: NotebookNode) -> float:
    return float(nbgrader(cell).get("points", 0))


@dataclass(frozen=True)
class Parts:
    """A graded cell's source: what the student sees, and what only the grader runs."""

    visible: str
    hidden: str


def split_hidden(source: str) -> Parts:
    visible: list[str] = []
    hidden: list[str] = []
    inside = False
    for line in source.split("\n"):
        if BEGIN_HIDDEN in line:
            inside = True
        elif END_HIDDEN in line:
            inside = False
        else:
            (hidden if inside else visible).append(line)
    return Parts("\n".join(visible).rstrip("\n"), "\n".join(hidden))


@lru_cache(maxsize=256)
def references_of(source: str) -> tuple[str, ...]:
    """The slugs a trusted hidden cell asks for: the literal arguments of its ``reference(...)`` calls."""
    slugs: list[str] = []
    for node in ast.walk(ast.parse(split_hidden(source).hidden)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "reference":
            argument = node.args[0]
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise ValueError("reference(...) takes a literal name, so that the judge knows what to expect")
            slugs.append(argument.value)
    return tuple(slugs)


def without_magics(source: str) -> str:
    """The source with shell and magic lines blanked, so that ``ast`` can read it."""
    return re.sub(r"(?m)^\s*[%!].*$", "pass", source)

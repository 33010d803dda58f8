"""The words nbgrader writes into cells, in one place: ids, points, hidden regions, checksums."""

import ast
import hashlib
import re
import threading
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


def place(cell: NotebookNode, number: int) -> str:
    """What people find a cell by; ``number`` counts from 0. Of a cell that got its id here, the first words."""
    name = grade_id(cell) or cell.get("id")
    if name and name != f"cell-{number}":
        return f"cell '{name}'"
    words = cell.source.strip().partition("\n")[0][:40]
    return f"cell {number} ({words!r})" if words else f"cell {number}"


def is_graded(cell: NotebookNode) -> bool:
    """True for everything that has points: tests, answers that a human reads, and nbgrader's task cells."""
    return bool(nbgrader(cell).get("grade")) or is_task(cell)


def is_solution(cell: NotebookNode) -> bool:
    return bool(nbgrader(cell).get("solution"))


def is_task(cell: NotebookNode) -> bool:
    """True for nbgrader's "manually graded task": a locked text, below which students add cells of their own."""
    return bool(nbgrader(cell).get("task"))


def is_locked(cell: NotebookNode) -> bool:
    """True where the student's text counts for nothing: graded tests, tasks and locked cells."""
    marks = nbgrader(cell)
    return bool(marks.get("grade_id")) and not marks.get("solution") and bool(is_graded(cell) or marks.get("locked"))


def is_autograded(cell: NotebookNode) -> bool:
    """True for a cell whose points the judge gives: graded, and not an answer to be read by a human."""
    return is_graded(cell) and not is_manually_graded(cell) and cell.cell_type == "code"


def is_manually_graded(cell: NotebookNode) -> bool:
    """True for what a human reads and gives points for: an answer in text or code, or a task."""
    return is_graded(cell) and (is_solution(cell) or is_task(cell))


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
    """The slugs that a trusted hidden cell asks for: the literal arguments of its ``reference(...)`` calls.

    Raises ValueError where a call is written in a way that cannot be read without running it, SyntaxError where the
    hidden tests are no Python.
    """
    tree = parse(split_hidden(source).hidden)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autograder")
        for alias in node.names
        if alias.name == "reference"
    }
    names = {"reference", *imported}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_reference(node.func, names)]
    called = {id(call.func) for call in calls}
    if any(_is_reference(node, names) and id(node) not in called for node in ast.walk(tree)):
        raise ValueError("reference is passed on instead of called, so that nobody can say what it is asked for")
    return tuple(dict.fromkeys(_literal(call) for call in calls))


def _is_reference(node: ast.AST, names: set[str]) -> bool:
    """True for the function of :mod:`autograder.testing`, under whatever name it was imported."""
    if isinstance(node, ast.Attribute):
        return node.attr == "reference"
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names


def _literal(call: ast.Call) -> str:
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "slug")]
    if len(given) == 1 and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str):
        return given[0].value
    raise ValueError("reference(...) takes one literal name, so that the judge knows what to expect")


def parse(source: str) -> ast.Module:
    """The syntax tree of a code cell, shell and magic lines left out. Raises SyntaxError."""
    try:
        return tree_of(source)
    except (SyntaxError, ValueError):  # ValueError: a null byte, before Python 3.12
        try:
            return tree_of(without_magics(source))
        except ValueError as error:
            raise SyntaxError(str(error)) from error


#: ``%magic`` and ``!command`` for a line, or as the value of an assignment; ``?name`` and ``name?``, which show help.
_OF_IPYTHON = re.compile(r"(?m)^([ \t]*)(?:(\w[^=\n]*=)[ \t]*[%!].*|[%!?].*|\w[\w.]*\?{1,2}[ \t]*)$")


def without_magics(source: str) -> str:
    """The source with shell, magic and help lines blanked, so that ``ast`` can read it: names stay bound."""
    return _OF_IPYTHON.sub(lambda found: found[1] + (f"{found[2]} None" if found[2] else "pass"), source)


def checksum_of(cell: NotebookNode) -> str:
    """Of a cell with a grade id: its text, its kind, what nbgrader does with it, its name and its points.

    As nbgrader's ``compute_checksum`` makes it, whose import every worker would pay for; a test holds both together.
    """
    marks = nbgrader(cell)
    grade, solution = marks.get("grade", False), marks.get("solution", False)
    locked = False if solution else True if grade else marks.get("locked", False)
    parts = [cell.source, cell.cell_type, str(grade), str(solution), str(locked), marks["grade_id"]]
    if grade:
        parts.append(str(float(marks["points"])))
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


# Python 3.11 counts the depth of all trees that are being built in one place: two threads at once can raise
# "SystemError: AST constructor recursion depth mismatch".
_ONE_AT_A_TIME = threading.Lock()


def tree_of(text: str) -> ast.Module:
    """As :func:`ast.parse`, whatever other threads do. Raises SyntaxError, and ValueError for a null byte."""
    try:
        with _ONE_AT_A_TIME:
            return ast.parse(text)
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("it is nested too deeply") from error

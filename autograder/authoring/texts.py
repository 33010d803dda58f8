"""The text of a sample answer: what would stand in the student's solution cells and files."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.exercise import SampleAnswer
from autograder.model import cells
from autograder.model.syntax import tree_of
from autograder.release.as_submitted import without_markers


def solutions(assignment: Assignment) -> dict[str, str]:
    """Every solution of the instructor without markers: grade id of a cell or name of a file -> text."""
    found = {
        str(cells.grade_id(cell)): cell.source
        for notebook in assignment.source.values()
        for cell in notebook.cells
        if cells.is_solution(cell) and cell.cell_type == "code"
    }
    found |= {name: data.decode() for name, data in assignment.solutions.items()}
    return {name: without_markers(text) for name, text in found.items()}


def texts_of(answer: SampleAnswer, solved: Mapping[str, str]) -> dict[str, str]:
    """Grade id or file name -> text, for every place that the answer fills.

    Raises GradingError where the instructor's solution has no such cell, line or method (any more).
    """
    places = [answer.cell, *answer.cells]
    missing = [place for place in places if place not in solved]
    if missing:
        raise GradingError(f"answer {answer.name!r}: there is no solution cell or file {missing[0]!r}")
    text = answer.text or solved[answer.cell]
    for old, new in answer.changes:
        if old not in text:
            raise GradingError(f"answer {answer.name!r}: the solution of {answer.cell} has no {old!r}")
        text = text.replace(old, new)
    try:
        text = with_methods(text, answer.methods)
    except (KeyError, SyntaxError) as error:
        raise GradingError(f"answer {answer.name!r}: {answer.cell}: {error}") from error
    return {answer.cell: text, **answer.cells}


def with_methods(text: str, methods: Mapping[tuple[str, str], str]) -> str:
    """A module with other bodies in some methods: (class, method) -> statements. What comes first in the body stays:
    the docstring, or the call of ``super().__init__()``.

    Raises KeyError where a method is missing, SyntaxError where the result is no Python.
    """
    for (owner, method), body in methods.items():
        function = _method(tree_of(text), owner, method)
        lines = text.split("\n")
        first, last = function.body[1].lineno - 1, function.end_lineno
        lines[first:last] = textwrap.indent(textwrap.dedent(body).strip("\n"), 8 * " ").split("\n")
        text = "\n".join(lines)
    if methods:
        tree_of(text)
    return text


def _method(tree: ast.Module, owner: str, method: str) -> ast.FunctionDef:
    for kind in tree.body:
        if isinstance(kind, ast.ClassDef) and kind.name == owner:
            for node in kind.body:
                if isinstance(node, ast.FunctionDef) and node.name == method:
                    return node
    raise KeyError(f"there is no method {owner}.{method}")

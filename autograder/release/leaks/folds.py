"""Does the fold of a stretch goal show part of an answer that is graded? Expressions are compared, not lines.

A stretch goal often goes further than an exercise, and its solution holds the exercise's. Names and positions do not
count: ``queries @ keys[part].T / np.sqrt(d)`` is ``q @ k.T / np.sqrt(W.shape[1])``.
"""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Iterator

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.model.stretch import fold_id, stretch_answers
from autograder.release.findings import Finding, pinned
from autograder.release.leaks.secrets import split_cell

#: A smaller expression occurs by chance.
MIN_NODES = 7


def graded_parts_in_folds(assignment: Assignment) -> Iterator[Finding]:
    """One finding per fold that shows an expression of a graded solution."""
    graded: dict[str, str] = {}
    folds: dict[str, dict[str, str]] = {}
    for name, notebook in assignment.source.items():
        there = {cell.get("id") for cell in notebook.cells}
        stretch = {number for number in stretch_answers(notebook) if fold_id(notebook.cells[number]) in there}
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type == "code" and cells.is_solution(cell):
                owner = f"{assignment.name}/{name}/{cells.grade_id(cell)}"
                regions = split_cell(cell, owner)[0]
                parts = {key: said for one in regions for key, said in expressions("\n".join(one.lines)).items()}
                if number in stretch:
                    folds[f"{assignment.name}/{name}.ipynb, {cells.place(cell, number)}"] = parts
                elif number not in stretch_answers(notebook):
                    graded |= dict.fromkeys(parts, owner)
    for data in assignment.solutions.values():
        graded |= dict.fromkeys(expressions(data.decode("utf-8", "replace")), "a file that is handed in")
    for where, parts in folds.items():
        shared = [part for part in parts if part in graded]
        if shared:
            said = (
                f"the fold of this stretch goal shows part of {graded[shared[0]]}: {parts[shared[0]]!r}; "
                'write "course": {"fold": false} into the cell\'s metadata'
            )
            yield pinned("leak", where, said, *shared)


def expressions(code: str) -> dict[str, str]:
    """The larger expressions of a text of Python, without names and positions -> as they are written."""
    try:
        tree = ast.parse(textwrap.dedent(code))
    except SyntaxError:
        return {}
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice | ast.Starred):
            plain = _Anonymous().visit(copy.deepcopy(node))
            if sum(isinstance(part, ast.expr) for part in ast.walk(plain)) >= MIN_NODES:
                found[ast.dump(plain)] = ast.unparse(node)
    return found


class _Anonymous(ast.NodeTransformer):
    """Every name is one and the same; where something is taken out of a value, only the value is left."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name("_", ast.Load())

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        value: ast.expr = self.visit(node.value)
        return value

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value: ast.expr = self.visit(node.value)
        return value if node.attr == "shape" else ast.Attribute(value, node.attr, ast.Load())

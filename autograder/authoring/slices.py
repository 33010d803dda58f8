"""Which cells of a notebook an exercise needs: those that bind a name which a later needed cell uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.model import cells


def needed(notebook: NotebookNode, index: int) -> set[int]:
    """The code cells, as indices, that the graded cell at ``index`` builds on, that cell among them."""
    wanted = _loaded(notebook.cells[index])
    found = {index}
    for number in reversed(range(index)):
        cell = notebook.cells[number]
        if cell.cell_type == "code" and not cells.is_autograded(cell) and _matters(cell, wanted):
            wanted |= _loaded(cell)
            found.add(number)
    return found


def _matters(cell: NotebookNode, wanted: set[str]) -> bool:
    """True where the cell binds a wanted name, or is an import of everything."""
    bound = _bound(cell)
    return "*" in bound or bool(bound & wanted)


def affected(notebook: NotebookNode, changed: Iterable[str]) -> list[int]:
    """The autograded cells whose result may depend on the solution cells (grade ids) that were changed, in order."""
    places = {index for index, cell in enumerate(notebook.cells) if cells.grade_id(cell) in set(changed)}
    return [index for index in graded_cells(notebook) if places & needed(notebook, index)]


def graded_cells(notebook: NotebookNode) -> list[int]:
    """The indices of the autograded cells."""
    return [index for index, cell in enumerate(notebook.cells) if cells.is_autograded(cell)]


def _loaded(cell: NotebookNode) -> set[str]:
    return {node.id for node in _names(cell) if isinstance(node.ctx, ast.Load)}


def _bound(cell: NotebookNode) -> set[str]:
    """The names that a cell binds or changes at its top level or below; ``*`` for a star import."""
    found = {node.id for node in _names(cell) if isinstance(node.ctx, ast.Store)}
    for node in ast.walk(_tree(cell)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            found |= {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
    return found


def _names(cell: NotebookNode) -> list[ast.Name]:
    return [node for node in ast.walk(_tree(cell)) if isinstance(node, ast.Name)]


def _tree(cell: NotebookNode) -> ast.Module:
    try:
        return cells.parse(cell.source)
    except SyntaxError:
        return ast.Module([], [])

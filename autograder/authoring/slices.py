"""Which cells of a notebook an exercise needs: those that bind a name which a later needed cell uses."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.questions import asking
from autograder.plain.where import is_plain


def needed(notebook: NotebookNode, index: int) -> set[int]:
    """The code cells, as indices, that the graded cell at ``index`` builds on, that cell among them."""
    wanted = set(_names(notebook.cells[index].source).loaded)
    found = {index}
    for number in reversed(range(index)):
        cell = notebook.cells[number]
        if cell.cell_type != "code" or (cells.is_autograded(cell) and not is_plain(cell)):
            continue  # plain tests may bind names for later ones
        names = _names(cell.source)
        if "*" in names.bound or not names.bound.isdisjoint(wanted):
            wanted |= names.loaded
            found.add(number)
    return found


def affected(notebook: NotebookNode, changed: Iterable[str]) -> list[int]:
    """The autograded cells whose result may depend on the solution cells (grade ids) that were changed, in order."""
    places = {index for index, cell in enumerate(notebook.cells) if cells.grade_id(cell) in set(changed)}
    return [index for index in graded_cells(notebook) if places & needed(notebook, index)] if places else []


def graded_cells(notebook: NotebookNode) -> list[int]:
    """The indices of the autograded cells; those whose right answers depend on the student's own code are left out."""
    return [
        index for index, cell in enumerate(notebook.cells)
        if cells.is_autograded(cell) and asking(cell) is None
    ]  # fmt: skip


@dataclass(frozen=True)
class _Names:
    """The names of the notebook's that a cell uses, and those that it binds or changes; ``*`` there for a star import.

    What a function calls its parameters and variables is nobody else's.
    """

    loaded: frozenset[str]
    bound: frozenset[str]


@lru_cache(maxsize=4096)
def _names(source: str) -> _Names:
    try:
        nodes = list(ast.walk(cells.parse(source)))
        table = _table(source)
    except SyntaxError:
        return _Names(frozenset(), frozenset())
    loaded, bound = set[str](), set[str]()
    for scope in _scopes(table):
        for symbol in scope.get_symbols():
            top = scope is table or (scope.get_type() == "class" and symbol.is_referenced())
            if top or symbol.is_global():
                loaded |= {symbol.get_name()} if symbol.is_referenced() else set()
                bound |= {symbol.get_name()} if symbol.is_assigned() or symbol.is_imported() else set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            bound.add("*")
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            bound |= {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
    return _Names(frozenset(loaded), frozenset(bound))


def _table(source: str) -> symtable.SymbolTable:
    try:
        return symtable.symtable(source, "cell", "exec")
    except SyntaxError:
        return symtable.symtable(cells.without_magics(source), "cell", "exec")


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """A scope and all below it."""
    yield table
    for inner in table.get_children():
        yield from _scopes(inner)

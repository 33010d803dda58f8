"""Which cells of a notebook an exercise needs: those that bind a name which a later needed cell uses."""

import ast
from collections.abc import Iterable
from functools import lru_cache

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.questions import asking
from autograder.plain.names import names_of, statements_of
from autograder.plain.where import is_plain


def needed(notebook: NotebookNode, index: int) -> set[int]:
    """The code cells, as indices, that the graded cell at ``index`` builds on, that cell among them."""
    wanted = set(names_of(notebook.cells[index].source).read)
    found = {index}
    for number in reversed(range(index)):
        cell = notebook.cells[number]
        if cell.cell_type != "code" or (cells.is_autograded(cell) and not is_plain(cell)):
            continue  # plain tests may bind names for later ones
        bound = _bound(cell.source)
        if "*" in bound or not bound.isdisjoint(wanted):
            wanted |= names_of(cell.source).read
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


@lru_cache(maxsize=4096)
def _bound(source: str) -> frozenset[str]:
    """The names that a cell binds, and those of what it changes; ``*`` among them for a star import."""
    bound = set(names_of(source).bound)
    for node in (inner for statement in statements_of(source) for inner in ast.walk(statement)):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            bound.add("*")
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            bound |= {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
    return frozenset(bound)

"""A cell's text as Python, and the names that it binds and loads, read from the syntax tree. No cell is run."""

import ast
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from autograder.model.cells import tree_of


@dataclass(frozen=True)
class Names:
    """What a cell does with the names of the notebook's namespace.

    bound: gets a value, an import and ``global`` within a function among them.
    imported: those that an import binds.
    read: is read, within functions too. looked_up: stands in a text of a cell that looks names up.
    """

    bound: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    looked_up: frozenset[str] = frozenset()

    @property
    def loaded(self) -> frozenset[str]:
        """What the cell may need of others."""
        return self.read | self.looked_up


@lru_cache(maxsize=1024)
def names_of(source: str) -> Names:
    """The names of a cell's text, magics and shell lines as IPython reads them. No names where it is no Python."""
    try:
        tree, table = parse(source), symtable.symtable(python(source), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return Names()
    top = {symbol.get_name(): symbol for symbol in table.get_symbols()}
    inner = list(_inner(table))
    read = {symbol.get_name() for symbol in inner if symbol.is_global() and symbol.is_referenced()}
    declared = {symbol.get_name() for symbol in inner if symbol.is_declared_global() and symbol.is_assigned()}
    return Names(
        frozenset(name for name, symbol in top.items() if symbol.is_assigned() or symbol.is_imported()) | declared,
        frozenset(name for name, symbol in top.items() if symbol.is_imported()),
        frozenset(name for name, symbol in top.items() if symbol.is_referenced()) | read,
        _looked_up(tree),
    )


def _looked_up(tree: ast.Module) -> frozenset[str]:
    """Names in texts of a cell that looks names up, as in ``"mean" in globals()``."""
    if not any(is_look_up(node) for node in ast.walk(tree)):
        return frozenset()
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return frozenset(value for value in constants if isinstance(value, str) and value.isidentifier())


def is_look_up(node: ast.AST) -> bool:
    """True for ``globals()`` and the like without an argument: the names of the notebook's namespace."""
    if not isinstance(node, ast.Call) or node.args or not isinstance(node.func, ast.Name):
        return False
    return node.func.id in ("globals", "locals", "vars", "dir")


def _inner(table: symtable.SymbolTable) -> Iterator[symtable.Symbol]:
    """The symbols of everything nested in a table."""
    for child in table.get_children():
        yield from child.get_symbols()
        yield from _inner(child)


_COMMAND = re.compile(r"(?m)^[ \t]*[%!]|=\s*[%!]|\?\s*$")


def python(source: str) -> str:
    """The text as IPython executes it. What is no Python at all comes back as it is."""
    if not _COMMAND.search(source):
        return source
    try:
        tree_of(source)
    except (SyntaxError, ValueError):
        from IPython.core.inputtransformer2 import TransformerManager

        return str(TransformerManager().transform_cell(source))
    return source


def parse(source: str) -> ast.Module:
    """The syntax tree of a code cell as IPython executes it. Raises SyntaxError."""
    try:
        return tree_of(python(source))
    except ValueError as error:  # a null byte, before Python 3.12
        raise SyntaxError(str(error)) from error


def is_python(source: str) -> bool:
    """Whether the text is Python from beginning to end."""
    try:
        parse(source)
    except SyntaxError:
        return False
    return True


def statements_of(source: str) -> list[ast.stmt]:
    """Those at the top; none of a text that is no Python."""
    return parse(source).body if is_python(source) else []

"""One plain test cell as the rules see it: its tree, the student's names, what the notebook around it says."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import TypeVar

from nbformat import NotebookNode

from autograder.model import cells
from autograder.plain.dotted import imports_of, root_name, used_names
from autograder.plain.names import Names, names_of, remote_names
from autograder.plain.text import parse

Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class PlainCell:
    """``students``: names whose values are the student's; ``read_later``: those that the solutions' functions read.

    files: paths that lie beside the notebook in both kernels; deliverables: those of them that students write.
    """

    source: str
    tree: ast.Module
    names: Names
    students: frozenset[str]
    read_later: frozenset[str]
    imported: Mapping[str, str]
    files: frozenset[str]
    deliverables: frozenset[str]

    @cached_property
    def used(self) -> list[tuple[str, ast.AST]]:
        return list(used_names(self.tree, self.imported))

    @cached_property
    def all_nodes(self) -> list[ast.AST]:
        """Every node of the tree: a dozen rules go through them."""
        return list(ast.walk(self.tree))

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        return (node for node in self.all_nodes if isinstance(node, kind))

    def is_students(self, node: ast.AST) -> bool:
        """Whether an expression starts with a name of the student's."""
        return root_name(node) in self.students


def view(
    notebook: NotebookNode, index: int, files: Collection[str] = (), deliverables: Collection[str] = ()
) -> PlainCell:
    """The plain test cell ``index`` of an instructor's notebook. Raises SyntaxError where it is no Python."""
    source = notebook.cells[index].source
    tree, names = parse(source), names_of(source)
    around = [_Around.of(cell) for cell in notebook.cells[:index] if cell.cell_type == "code"]
    trusted = [one for one in around if not one.is_solution]
    imported = {name: full for one in around for name, full in one.imported.items()}
    modules = frozenset(PurePosixPath(name).stem for name in deliverables if name.endswith(".py"))
    bound = frozenset(name for one in trusted for name in one.names.bound)
    unknown = names.loaded - names.bound - bound - imported.keys() - _KNOWN
    if any(full.endswith(".*") for full in imported.values()):  # which names a star brings is not in the text
        unknown = frozenset()
    students = remote_names(notebook, index) | unknown
    students |= {name for name, full in imported.items() if full.partition(".")[0] in modules}
    return PlainCell(
        source,
        tree,
        names,
        students,
        frozenset(name for one in around if one.is_solution for name in one.names.read_later),
        {name: full for name, full in imported.items() if name not in students} | imports_of(tree),
        frozenset({*files, *(text for one in trusted for text in one.texts)} - set(deliverables)),
        modules,
    )


_KNOWN = {*dir(builtins), "In", "Out", "get_ipython", "exit", "quit", "display", "__name__", "__doc__", "__builtins__"}


@dataclass(frozen=True)
class _Around:
    """A cell above the test cell. ``texts``: the strings in it, file names among them."""

    is_solution: bool
    names: Names
    imported: Mapping[str, str]
    texts: frozenset[str]

    @classmethod
    def of(cls, cell: NotebookNode) -> _Around:
        return _around(cell.source, cells.is_solution(cell))


@lru_cache(maxsize=1024)
def _around(source: str, is_solution: bool) -> _Around:
    try:
        tree = parse(source)
    except SyntaxError:
        tree = ast.Module([], [])
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = frozenset(value for value in constants if isinstance(value, str))
    return _Around(is_solution, names_of(source), imports_of(tree), texts)

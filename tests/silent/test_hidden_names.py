"""What a hidden test sets stays in the notebook's namespace: it must be nothing that the notebook itself uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.model import cells

SOURCE = Path(__file__).parents[2] / "source"
NOTEBOOKS = sorted(SOURCE.glob("*/*.ipynb"))
INNER = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def names_left(node: ast.AST) -> Iterator[str]:
    """The names that running the code sets, less those that live inside functions and comprehensions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield child.name
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif isinstance(child, ast.stmt | ast.expr) and not isinstance(child, INNER):
            yield from names_left(child)


def clashes(sources: list[str]) -> set[str]:
    """The names that hidden tests leave behind, and that other code of the cells uses or sets."""
    parts = [cells.split_hidden(source) for source in sources]
    left = {name for part in parts for name in names_left(cells.parse(part.hidden))}
    nodes = (node for part in parts for node in ast.walk(cells.parse(part.visible)))
    return left & {node.id for node in nodes if isinstance(node, ast.Name)}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_hidden_test_sets_a_name_that_the_notebook_uses(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert clashes([cell.source for cell in notebook.cells if cell.cell_type == "code"]) == set()


def test_a_name_that_a_hidden_test_leaves_behind_is_found() -> None:
    hidden = "### BEGIN HIDDEN TESTS\nfor case in reference('a'):\n    block = Block(case)\n### END HIDDEN TESTS"
    assert clashes([f"check.a(Block)\n{hidden}", "block(embeddings)"]) == {"block"}
    assert clashes([f"check.a(Block)\n{hidden}", "Block(embeddings)"]) == set()

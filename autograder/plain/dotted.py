"""Full names of what a cell uses: ``np.load`` is ``numpy.load`` where the notebook imports numpy as ``np``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping


def imports_of(tree: ast.AST) -> dict[str, str]:
    """Name in the notebook -> full name of the module or member that an import binds to it."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def full_name(node: ast.AST, imported: Mapping[str, str]) -> str:
    """The dotted name of a name or of attributes of one; empty for everything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([imported.get(node.id, node.id), *reversed(parts)])


def used_names(tree: ast.AST, imported: Mapping[str, str]) -> Iterator[tuple[str, ast.AST]]:
    """Every longest dotted name in a tree, with its node."""
    inner: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            inner.add(id(node.value))
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner and (name := full_name(node, imported)):
            yield name, node

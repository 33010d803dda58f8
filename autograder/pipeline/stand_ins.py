"""What works on Colab or in the student's own Jupyter alone, and must not stop a cell while it is graded."""

from __future__ import annotations

import ast
import re

from autograder.plain.text import parse

_WINDOWS = re.compile(r"(?m)^([ \t]*%matplotlib[ \t]+)(?!inline\b|agg\b|-)[\w-]+[ \t]*$")


def runnable_here(source: str) -> str:
    """The cell as the kernel executes it: figures inline, objects that do nothing in the place of ``google.colab``.

    Only imports that would stop the cell are replaced, and none within ``try``: by such a one a notebook finds out
    where it runs.
    """
    source = _WINDOWS.sub(r"\1inline", source)
    if "colab" not in source:
        return source
    try:
        imports = [node for node in parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    except SyntaxError:
        return source
    lines = source.split("\n")
    for node in imports:
        names = _names(node)
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        if names and text.strip() == (ast.get_source_segment(source, node) or "").strip():
            bound = "".join(f"{name} = " for name in names)
            inert = f"import unittest.mock as _inert; {bound}_inert.MagicMock()"
            lines[node.lineno - 1 : node.end_lineno] = [inert, *[""] * ((node.end_lineno or node.lineno) - node.lineno)]
    return "\n".join(lines)


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The names that an import from ``google.colab``, and from nothing else, binds."""
    if isinstance(node, ast.ImportFrom):
        within = node.level == 0 and f"{node.module}.".startswith("google.colab.")
        given = node.module == "google" and all(alias.name == "colab" for alias in node.names)
        return [alias.asname or alias.name for alias in node.names if alias.name != "*"] if within or given else []
    if not all(f"{alias.name}.".startswith("google.colab.") for alias in node.names):
        return []
    return [alias.asname or "google" for alias in node.names]

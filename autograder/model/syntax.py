"""Syntax trees, read by one thread at a time."""

from __future__ import annotations

import ast
import threading

# Python 3.11 counts the depth of all trees that are being built in one place: two threads at once can raise
# "SystemError: AST constructor recursion depth mismatch".
_ONE_AT_A_TIME = threading.Lock()


def tree_of(text: str) -> ast.Module:
    """As :func:`ast.parse`, whatever other threads do. Raises SyntaxError, and ValueError for a null byte."""
    try:
        with _ONE_AT_A_TIME:
            return ast.parse(text)
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("it is nested too deeply") from error

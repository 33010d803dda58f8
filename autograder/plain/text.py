"""A cell's text as Python: magics and shell lines become the calls that IPython makes of them."""

from __future__ import annotations

import ast
import re

from autograder.model.syntax import tree_of

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

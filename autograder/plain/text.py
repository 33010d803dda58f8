"""A cell's text as Python: magics and shell lines become the calls that IPython makes of them."""

from __future__ import annotations

import ast
import re

_COMMAND = re.compile(r"(?m)^[ \t]*[%!]|=\s*[%!]|\?\s*$")


def python(source: str) -> str:
    """The text as IPython executes it; hidden markers are comments and stay. What is no Python comes back as it is."""
    if not _COMMAND.search(source):
        return source
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        from IPython.core.inputtransformer2 import TransformerManager

        return TransformerManager().transform_cell(source)
    return source

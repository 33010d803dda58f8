"""Test cells that are never judged in the tester: their text asks for the student's kernel, or could open the tester.

Whatever else needs the student's process shows when the solution is calibrated, and a text that is about to become code
ends the tester (:mod:`autograder.tester.no_code`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder.plain.names import names_of
from autograder.plain.text import parse

_SHELL = "it uses a magic, the shell or get_ipython()"
#: Modules that make objects of any class of a text, without a line of code that the tester would hear of.
_MAKES_OBJECTS = ("yaml", "ruamel", "jsonpickle")


def reason_for(source: NotebookNode, index: int) -> str:
    """Why the text of test cell ``index`` asks for the student's kernel; empty where it does not."""
    text = source.cells[index].source
    if "kernel" in asked(text):
        return "the line '# autograder: kernel' asks for it"
    try:
        tree = parse(text)
    except SyntaxError as error:
        return f"it is no Python ({error.msg})"
    if any(isinstance(node, ast.Name) and node.id == "get_ipython" for node in ast.walk(tree)):
        return _SHELL
    above = [one.source for one in source.cells[: index + 1] if one.cell_type == "code"]
    made = {name for one in above for name in _names_from(one, _MAKES_OBJECTS)} & names_of(text).loaded
    return f"it makes objects of a text, which may be the student's ({', '.join(sorted(made))})" if made else ""


def _names_from(source: str, modules: tuple[str, ...]) -> Iterator[str]:
    """The names that imports in a cell bind to these modules, or to what is in them."""
    try:
        nodes = list(ast.walk(parse(source)))
    except SyntaxError:
        return
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            root = (getattr(node, "module", None) or "").partition(".")[0]
            for alias in node.names:
                if (root or alias.name.partition(".")[0]) in modules:
                    yield (alias.asname or alias.name).partition(".")[0]


def asked(source: str) -> list[str]:
    """What the lines ``# autograder: ...`` of a cell say."""
    return re.findall(r"(?m)^[ \t]*#+[ \t]*autograder[ \t]*:[ \t]*(.*?)[ \t]*$", source)

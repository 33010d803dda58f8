"""Test cells that are never judged in the tester: their text asks for the student's kernel, or executes text as code.

Whatever else needs the student's process shows when the solution is calibrated.
"""

from __future__ import annotations

import re

from nbformat import NotebookNode

from autograder.plain.dotted import imports_of, used_names
from autograder.plain.text import parse

_CODE = "it executes text or bytes as code, which may be the student's"
_SHELL = "it uses a magic, the shell or get_ipython()"
#: Full names; ``module.*`` stands for everything in a module. Most of them would also end the tester
#: (:mod:`autograder.tester.no_code`), but not all: yaml makes objects of any class without a line of code.
_NAMES = frozenset(
    (
        *("eval", "exec", "compile", "__import__", "importlib.*", "runpy.*", "code.*", "doctest.*", "timeit.*"),
        *("subprocess.*", "os.system", "os.popen", "pickle.load", "pickle.loads", "dill.*", "cloudpickle.*"),
        *("marshal.*", "shelve.*", "joblib.load", "torch.load", "pandas.read_pickle", "pandas.eval", "sympy.sympify"),
        *("yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load"),
    )
)


def reason_for(source: NotebookNode, index: int) -> str:
    """Why the text of test cell ``index`` asks for the student's kernel; empty where it does not."""
    cell = source.cells[index]
    if "kernel" in asked(cell.source):
        return "the line '# autograder: kernel' asks for it"
    try:
        tree = parse(cell.source)
    except SyntaxError as error:
        return f"it is no Python ({error.msg})"
    imported: dict[str, str] = {}
    for one in source.cells[: index + 1]:
        if one.cell_type == "code":
            imported |= _imports(one.source)
    for name, _ in used_names(tree, imported):
        if name == "get_ipython":
            return _SHELL
        if name in _NAMES or f"{name.partition('.')[0]}.*" in _NAMES:
            return f"{_CODE} ({name})"
    return ""


def _imports(source: str) -> dict[str, str]:
    try:
        return imports_of(parse(source))
    except SyntaxError:
        return {}


def asked(source: str) -> list[str]:
    """What the lines ``# autograder: ...`` of a cell say."""
    return re.findall(r"(?m)^[ \t]*#+[ \t]*autograder[ \t]*:[ \t]*(.*?)[ \t]*$", source)

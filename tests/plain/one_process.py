"""A test cell in the process of what it tests, as nbgrader has it: the measure for what is judged outside."""

import ast
import contextlib
import io
import linecache
import sys
import warnings
from collections.abc import Iterator
from itertools import count
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np

_number = count()


def points(setup: str, answer: str, *tests: tuple[str, float]) -> float:
    """The points of an answer in tests: 0 where one stops, a number where it ends with one, else all of its points."""
    with silent(), main_module() as namespace:
        execute(setup, namespace)
        with contextlib.suppress(Exception):
            execute(answer, namespace)
        return sum(attempt(test, most, namespace) for test, most in tests)


@contextlib.contextmanager
def main_module() -> Iterator[dict[str, Any]]:
    """The names of an empty module that stands for ``__main__``, as a kernel has one."""
    before, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield vars(sys.modules["__main__"])
    finally:
        sys.modules["__main__"] = before


def attempt(test: str, most: float, namespace: dict[str, Any]) -> float:
    """The points of a test cell that runs in this namespace."""
    try:
        return earned(execute(test, namespace), most)
    except KeyboardInterrupt:
        raise
    except BaseException:  # what pytest.raises raises is no Exception
        return 0.0


@contextlib.contextmanager
def silent() -> Iterator[None]:
    printed = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with printed[0], printed[1], warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def earned(value: object, most: float) -> float:
    """nbgrader's rule: the last expression's value, where it is a number, else full points."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else most


def execute(source: str, namespace: dict[str, Any]) -> object:
    """Run a cell; returns the value of its last expression, if it ends with one. Raises what the cell raises."""
    tree = ast.parse(source)
    namespace.setdefault("In", [""]).append(source)
    file = f"/cell_{next(_number)}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec", dont_inherit=True), namespace)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), file, "eval", dont_inherit=True), namespace)

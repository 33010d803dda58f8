"""A cell in the tester: the student's names are bound, its parts are executed, and how it ended is told as JSON.

No line of the student's is executed in this process. What came from the student's kernel is data or a handle.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import reprlib
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from IPython.core.getipython import get_ipython
from IPython.utils.capture import capture_output

from autograder.remote.places import line_in
from autograder.remote.tester import Remote, RemoteDied
from autograder.tester.failure import failure_of
from autograder.tester.line import Client, open_line
from autograder.tester.no_code import no_text_as_code

#: In what came from the solution, beside places: the checks that it passed, and the cell's result.
PASSED, RESULT = "passed", "result"
_MIME = "application/vnd.autograder+json"  # autograder.kernel.execution.VALUE


def run(task: str, line: Client | None = None) -> Ended:
    """What the grader has evaluated in the tester for each cell. ``line``: where there is no kernel to open one.

    task: JSON with ``remote``, the names that are bound anew to what the student's kernel has; ``unknown``, those that
    are only where the tester has no such name; ``read``, those that the cell reads; ``parts``, pairs of a source and
    whether what it shows is hidden; ``expected``, what came from the solution (:mod:`autograder.remote.places`), null
    while the solution runs: then ``places`` tells what came.
    """
    tester = _tester()
    try:
        return Ended(json.dumps(tester.run(json.loads(task), line)))
    except BaseException as stopped:  # over what the student's code gave: it costs the cell, and is no fault of ours
        return Ended(json.dumps(failure_of(stopped, "", {})))


class Ended:
    """How a cell ended, as the value of an expression that the grader asked for."""

    def __init__(self, content: str) -> None:
        self.content = content

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {_MIME: self.content}


class Tester:
    """The state of this kernel: the remote values, and the line over which they are asked for."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        shell.showtraceback = shell.showsyntaxerror = lambda *_, **__: None  # what failed is told in `Ended`
        for name in ("AUTOGRADER_INPUTS", "AUTOGRADER_ANSWERS"):
            os.environ.pop(name, None)  # answers that are handed over here would reach no judge: let it fail
        self._line: Client | None = None
        self._checks = PassedChecks()
        shell.ast_transformers.append(self._checks)
        self._remote = RecordingRemote(self._ask, shell.user_ns)

    def run(self, task: dict[str, Any], line: Client | None = None) -> dict[str, Any]:
        self._line = line or open_line(self._shell.kernel)
        self._remote.failures.clear()
        self._remote.forget_values()
        self._checks.seen.clear()
        names = self._shell.user_ns
        unknown = [name for name in task["unknown"] if name not in names and not hasattr(builtins, name)]
        wanted = [*task["remote"], *unknown]
        self._remote.places.expected, self._remote.places.noted = task["expected"], {}
        try:
            if wanted:
                self._remote.bind(wanted, task["read"])
            with no_text_as_code() if wanted else nullcontext():
                said = self._parts(task["parts"])
        except BaseException as stopped:
            said = failure_of(stopped, "", names)
        return said | self._compared(said, task["expected"]) | {"refused": next(iter(self._remote.failures), "")}

    def _compared(self, said: dict[str, Any], expected: dict[str, list[str]] | None) -> dict[str, Any]:
        """What came from the solution; else how the test failed that ended well without them."""
        if expected is None:
            noted = {place: sorted(kinds) for place, kinds in self._remote.places.noted.items()}
            return {"places": noted | {PASSED: sorted(self._checks.seen), RESULT: [str(said.get("result"))]}}
        as_well = said["status"] == "ok" and str(said["result"]) in expected.get(RESULT, ())
        if not as_well or not (check := self._checks.skipped(expected[PASSED])):
            return {}
        self._remote.refused(f"the test ended without going through what the solution passes: {check}")
        return failure_of(RemoteDied(self._remote.failures[0]), "", {}) | {"hidden": True}

    def _parts(self, parts: list[tuple[str, bool]]) -> dict[str, Any]:
        names, result = self._shell.user_ns, None
        for number, (source, hidden) in enumerate(parts, 1):
            self._remote.forget_values()
            self._remote.part = number
            result = self._part(source, hidden, number == len(parts))
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                failure = failure_of(error, source, names)
                return failure | {"hidden": hidden, "came": self._remote.given_to(*failure["lines"])}
        if self._remote.failures:  # whatever the test made of them
            return failure_of(RemoteDied(self._remote.failures[0]), "", names)
        return {"status": "ok", "result": _number(result.result if result else None)}

    def _part(self, source: str, hidden: bool, last: bool) -> Any:
        self._checks.source = source
        with ExitStack() as around:
            if hidden:
                around.enter_context(capture_output())
            if not last:
                around.enter_context(_without_result(self._shell))
            return self._shell.run_cell(source, store_history=False)

    def _ask(self, text: str) -> str:
        assert self._line is not None
        return self._line.ask(text)


@cache
def _tester() -> Tester:
    return Tester(get_ipython())


@contextmanager
def _without_result(shell: Any) -> Iterator[None]:
    """Only the last expression of the whole cell is its result."""
    before, shell.ast_node_interactivity = shell.ast_node_interactivity, "none"
    try:
        yield
    finally:
        shell.ast_node_interactivity = before


def _number(value: object) -> float | None:
    """The value of a cell's last expression where nbgrader would take it for points; None for anything else."""
    of_numpy = isinstance(value, np.integer | np.floating) and type(value).__module__ == "numpy"
    if type(value) not in {int, float} and not of_numpy:  # a set: a class of the student's may equal one by its name
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf")


# Which checks of a test have been gone through: those that the solution's answer passes, every other must pass, too.
# A loop over nothing, an iterator that ends at once, a branch, an exception that is caught: a test can end well without
# having compared anything. So each statement that checks, and what a comprehension goes through, leaves a mark.

_CHECKS = (ast.Assert, ast.Expr, ast.If, ast.For, ast.While, ast.With, ast.Try)
_MARK = "__autograder_passed__"
_MAX_SHOWN = 100


class PassedChecks(ast.NodeTransformer):
    """Goes into the shell's ``ast_transformers``. seen: the marks that were left since it was emptied.

    source: the text that is executed next.
    """

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.source = ""
        self._texts: dict[str, str] = {}
        setattr(builtins, _MARK, self._leave)
        setattr(builtins, _MARK, self._leave)

    def _leave(self, mark: str, value: Any = None) -> Any:
        self.seen.add(mark)
        return value

    def skipped(self, marks: list[str]) -> str:
        """The first check, as text, that should have been passed and was not; empty where there is none."""
        return next((self._texts.get(mark, "a check") for mark in marks if mark not in self.seen), "")

    def visit_Module(self, node: ast.Module) -> ast.Module:
        last = node.body[-1] if node.body and isinstance(node.body[-1], ast.Expr) else None
        self.generic_visit(node)
        if last is not None:  # its value is the cell's result
            del node.body[node.body.index(last) + 1 :]
        return ast.fix_missing_locations(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                marked = [[one, ast.Expr(self._mark(one))] if self._is_check(one) else [one] for one in block]
                setattr(node, name, [one for pair in marked for one in pair])
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            node.elt = self._mark(node.elt, node.elt)
        elif isinstance(node, ast.DictComp):
            node.value = self._mark(node.value, node.value)
        return node

    @staticmethod
    def _is_check(node: ast.stmt) -> bool:
        return isinstance(node, _CHECKS) and not isinstance(getattr(node, "value", None), ast.Constant)

    def _mark(self, node: Any, *values: ast.expr) -> ast.Call:
        mark = f"{zlib.crc32(self.source.encode()):x}.{node.lineno}:{node.col_offset}"
        self._texts[mark] = "".join(self.source.split("\n")[node.lineno - 1 : node.lineno]).strip()[:_MAX_SHOWN]
        made = ast.Call(ast.Name(_MARK, ast.Load()), [ast.Constant(mark), *values], [])
        return ast.copy_location(made, node)


#: Values that are said of one statement, and characters of each.
MAX_VALUES = 3
MAX_CHARACTERS = 200
_KEPT = 50
_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxdict = 10
_SHORT.maxstring, _SHORT.maxother = 100, MAX_CHARACTERS
#: As sets: a class of the student's may equal one of these by its name, but has another hash.
_PLAIN = {bool, int, float, complex, str, bytes, type(None)}
_CONTAINERS = {list, tuple, set, frozenset, dict}


class RecordingRemote(Remote):
    """Remembers the last values that calls gave, each with the line of the notebook that called."""

    values: deque[tuple[int, Any]]

    def ask(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        value = super().ask(operation, *args, **kwargs)
        if operation in ("__call__", "method"):
            self.values.append((line_in(self.namespace()), value))
        return value

    def forget_values(self) -> None:
        self.values = deque(maxlen=_KEPT)

    def given_to(self, first: int, last: int) -> list[str]:
        """The plain values that calls from these lines gave, as text, the last of them."""
        texts = [_text(value) for line, value in self.values if first <= line <= last and is_plain(value)]
        return [text for text in texts if text][-MAX_VALUES:]


def _text(value: Any) -> str:
    """Empty where Python refuses to write the value, as it does an integer of many digits."""
    try:
        return _SHORT.repr(value)[:MAX_CHARACTERS]
    except ValueError:
        return ""


def is_plain(value: Any, depth: int = 3) -> bool:
    """Whether a value is data through and through, so that its text asks nobody."""
    if type(value) in _PLAIN:
        return True
    if type(value) is np.ndarray:
        return bool(value.dtype.kind in "biufcSU")
    if not depth or type(value) not in _CONTAINERS:
        return type(value).__module__ == "numpy" and isinstance(value, np.generic)
    inside = [*value.keys(), *value.values()] if type(value) is dict else value
    return all(is_plain(one, depth - 1) for one in inside)

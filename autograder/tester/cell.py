"""A cell in the tester: the student's names are bound, its parts are executed, and how it ended is told as JSON.

No line of the student's is executed in this process. What came from the student's kernel is data or a handle.
"""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from IPython.core.getipython import get_ipython
from IPython.utils.capture import capture_output

from autograder.remote.tester import RemoteDied
from autograder.tester.failure import failure_of
from autograder.tester.line import Client, open_line
from autograder.tester.no_code import no_text_as_code
from autograder.tester.passed import PassedChecks
from autograder.tester.returned_values import RecordingRemote

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

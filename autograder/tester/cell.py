"""A cell in the tester: the student's names are bound, its parts are executed, and how it ended is told as JSON.

No line of the student's is executed in this process. What came from the student's kernel is data or a handle.
"""

import ast
import builtins
import json
import os
import sys
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
from autograder.tester.other_values import ForkBefore, Recorded, Varying, can_vary
from autograder.tester.passed import PassedChecks
from autograder.tester.returned_values import RecordingRemote

_MIME = "application/vnd.autograder+json"  # autograder.kernel.execution.VALUE


def run(task: str, line: Client | None = None) -> "Ended":
    """What the grader has evaluated in the tester for each cell. ``line``: where there is no kernel to open one.

    task: JSON with ``remote``, the names that are bound anew to what the student's kernel has; ``unknown``, those that
    are only where the tester has no such name; ``read``, those that the cell reads; ``given``, trusted names of which
    both kernels hold an object; ``parts``, pairs of a source and whether what it shows is hidden; ``expected``, where
    the solution's code answered (:mod:`autograder.remote.places`), null while the solution runs: ``places`` tells it.

    ``tries``: for how many seconds it is tried where the test holds for other values, too, with all of its ``points``.
    Of every run ``visits`` tells what came at each place, and ``marks`` how often each check was gone through.
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
        self._remote = RecordingRemote(self._ask, shell.user_ns, self._checks)

    def run(self, task: dict[str, Any], line: Client | None = None) -> dict[str, Any]:
        if line is None or not task["tries"]:  # a process that is forked from a kernel would not be alone
            return self._run(task, line or open_line(self._shell.kernel))
        recorded, waiting = Recorded(line), ForkBefore(lambda replayed, place: self._holds(task, replayed, place))
        said = self._run(task, recorded)
        if said["status"] != "ok":
            waiting.drop()
            return said
        places = [place for place, came in said["visits"].items() if can_vary(place, came)]
        return said | {"takes_others": waiting.holds_at(places, recorded.exchanges, task["tries"])}

    def _holds(self, task: dict[str, Any], line: Client, place: str) -> bool:
        """Whether the test holds where each value that comes at a place is another one, right beside it."""
        varying = Varying()
        self._remote.places.vary = {place: varying}
        said = self._run(task, line)
        holds = said["status"] == "ok" and (said["result"] is None or said["result"] >= task["points"])
        return holds and varying.done > 0

    def _run(self, task: dict[str, Any], line: Client) -> dict[str, Any]:
        self._line = line
        self._remote.failures.clear()
        self._remote.forget_values()
        self._checks.seen.clear()
        names = self._shell.user_ns
        unknown = [name for name in task["unknown"] if name not in names and not hasattr(builtins, name)]
        wanted = [*task["remote"], *unknown]
        self._remote.places.clear()
        self._remote.shown = sys.stdout
        self._remote.places.expected = task["expected"]
        try:
            if wanted:
                self._remote.bind(wanted, task["read"], task["given"])
            with no_text_as_code() if wanted else nullcontext():
                said = self._parts(task["parts"])
        except BaseException as stopped:
            said = failure_of(stopped, "", names)
        said |= {"places": {place: sorted(words) for place, words in self._remote.places.noted.items()}}
        said |= {"visits": self._remote.places.visits, "marks": dict(self._checks.seen)}
        return said | {"refused": next(iter(self._remote.failures), "")}

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
        self._checks.source, self._checks.asleep = source, False
        self._remote.places.unused = unused(source, last)
        with ExitStack() as around:
            if hidden:
                around.enter_context(capture_output())
            if not last:
                around.enter_context(_without_result(self._shell))
            self._remote.shown = sys.stdout
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


def unused(source: str, last: bool) -> frozenset[str]:
    """Where the statements stand whose value nobody uses, as :func:`~autograder.remote.places.place_of` says it.

    last: whether the last one of them gives the cell's result.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):  # magics, say
        return frozenset()
    result = tree.body[-1] if last and tree.body else None
    found = (one.value for one in ast.walk(tree) if isinstance(one, ast.Expr) and one is not result)
    return frozenset(f"{one.lineno}:{one.col_offset}-{one.end_col_offset}" for one in found)


def _number(value: object) -> float | None:
    """The value of a cell's last expression where nbgrader would take it for points; None for anything else."""
    of_numpy = isinstance(value, np.integer | np.floating) and type(value).__module__ == "numpy"
    if type(value) not in {int, float} and not of_numpy:  # a set: a class of the student's may equal one by its name
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf")

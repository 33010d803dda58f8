"""A cell in the tester: the student's names are bound, its parts are executed, and how it ended is told as JSON.

No line of the student's is executed in this process. What came from the student's kernel is data or a handle.
"""

from __future__ import annotations

import builtins
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import numpy as np
from IPython.core.getipython import get_ipython
from IPython.utils.capture import capture_output

from autograder.remote.digest import digest_of
from autograder.remote.tester import RemoteDied
from autograder.tester.came import RecordingRemote
from autograder.tester.failure import failure_of
from autograder.tester.line import Questioner, open_line

_MIME = "application/vnd.autograder+json"  # autograder.kernel.execution.VALUE

#: How a test or a trusted cell says that it knows of masked arrays.
_MASKS = re.compile(r"\bma\b|MaskedArray|masked_(?:array|where|equal|invalid|all|values|outside|greater|less)|\.mask\b")
#: How it says that it knows of missing values in frames; pandas' own assertions compare them as values.
_MISSING = re.compile(
    r"assert_(?:frame|series|index|extension_array)_equal|\bNA\b|\b(?:is|not|drop|fill)_?n(?:a|ulls?)\b|null_count|equals\("
)


def run(task: str, line: Questioner | None = None) -> Ended:
    """What the grader has evaluated in the tester for each cell. ``line``: where there is no kernel to open one.

    task: JSON with ``remote``, the names that are bound anew to what the student's kernel has; ``unknown``, those that
    are only where the tester has no such name; ``classes``, those that should be classes; ``parts``, pairs of a source
    and whether what it shows is hidden; ``theirs``, those of ``remote`` that are the student's for this cell alone;
    ``made``, names to be described when all is executed, and ``watched``, such names with what was said of them before.
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
        self._line: Questioner | None = None
        self._masks = self._missing = False
        self._remote = RecordingRemote(self._ask, shell.user_ns)

    def run(self, task: dict[str, Any], line: Questioner | None = None) -> dict[str, Any]:
        self._line = line or open_line(self._shell.kernel)
        self._remote.failures.clear()
        self._remote.forget_values()
        self._masks |= any(_MASKS.search(source) for source, _ in task["parts"])
        self._missing |= any(_MISSING.search(source) for source, _ in task["parts"])
        self._remote.masks, self._remote.missing = self._masks, self._missing
        names = self._shell.user_ns
        theirs = task["theirs"]
        own = {name: names[name] for name in theirs if name in names}
        if theirs:  # such a cell earns nothing
            self._remote.masks = self._remote.missing = True
        unknown = [name for name in task["unknown"] if name not in names and not hasattr(builtins, name)]
        wanted = [*task["remote"], *unknown]
        try:
            if wanted:
                self._remote.bind(wanted, task["classes"])
            said = self._parts(task["parts"])
        except BaseException as stopped:
            said = failure_of(stopped, "", names)
        if theirs:
            names.update(own)
            return said | {"refused": bool(self._remote.failures)}
        return said | self._changes(task["made"], task["watched"])

    def _parts(self, parts: list[tuple[str, bool]]) -> dict[str, Any]:
        names, result = self._shell.user_ns, None
        for number, (source, hidden) in enumerate(parts, 1):
            self._remote.forget_values()
            result = self._part(source, hidden, number == len(parts))
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                failure = failure_of(error, source, names)
                return failure | {"hidden": hidden, "came": self._remote.given_to(*failure["lines"])}
        if self._remote.failures:  # whatever the test made of them
            return failure_of(RemoteDied(self._remote.failures[0]), "", names)
        return {"status": "ok", "result": _number(result.result if result else None)}

    def _changes(self, made: list[str], watched: dict[str, str | None]) -> dict[str, Any]:
        """digests: what the student's kernel says of these names; changed: where that is neither what it said before
        nor true of the tester's own values, which trusted cells change in both kernels.
        """
        names = [*dict.fromkeys([*made, *watched])]
        if not names:
            return {}
        said = self._remote.digests(names)
        differ = [name for name in watched if name in said and said[name] != watched[name]]
        changed = [name for name in differ if said[name] != digest_of(self._shell.user_ns, name)]
        return {"digests": said, "changed": changed}

    def _part(self, source: str, hidden: bool, last: bool) -> Any:
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

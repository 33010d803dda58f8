"""Why a name is missing: the cell that binds it stopped before it did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.verdict import CellVerdict, Check
from autograder.pipeline.judge_tests import bounded
from autograder.pipeline.outcomes import CellOutcome, ExecutedNotebook, PartOutcome
from autograder.plain.names import names_of

_NAME = re.compile(r"name '(\w+)' is not defined")
_DEFINITION = re.compile(r"(?m)^(?:(?:def|class)\s+(\w+)|(\w+)\s*=(?!=))")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ARROW = re.compile(r"^-+>\s*\d+ (.*)$", re.MULTILINE)
_MAX_LINE = 200


def stopped_cells(ran: ExecutedNotebook) -> dict[str, Check]:
    """Name -> what is to be said where it is missing, for the names of all cells that stopped with an error."""
    found: dict[str, Check] = {}
    for outcome in ran.outcomes:
        cell = ran.notebook.cells[outcome.index]
        if outcome.visible.status != "error" or cells.is_locked(cell):
            continue
        for name in _bound(cell.source):
            found.setdefault(name, _why(name, cell, outcome.visible))
    return found


def missing_name(outcome: CellOutcome | None) -> str:
    """The name that a graded cell did not find; empty where it ended in another way."""
    if outcome is None:
        return ""
    part = outcome.test.ended if outcome.test else outcome.hidden
    found = _NAME.search(part.evalue) if part and part.ename == "NameError" else None
    return found[1] if found else ""


def told_of(verdict: CellVerdict, why: Check | None) -> CellVerdict:
    """The verdict, of which the first check that failed says why the name that it needs is missing."""
    first = next((index for index, check in enumerate(verdict.checks) if not check.passed), None)
    if why is None or first is None:
        return verdict
    told = replace(verdict.checks[first], message=bounded(why.message), hint=why.hint)
    return replace(verdict, checks=(*verdict.checks[:first], told, *verdict.checks[first + 1 :]))


def _bound(source: str) -> frozenset[str]:
    return names_of(source).bound or frozenset(one or other for one, other in _DEFINITION.findall(source))


def _why(name: str, cell: NotebookNode, ended: PartOutcome) -> Check:
    line = next(_lines(cell), "")
    where = f" at the line '{line}'" if line else ""
    error = f"{ended.ename}: {ended.evalue}"[:_MAX_LINE]
    return Check("", False, f"'{name}' is missing: the cell that defines it stopped{where}. {error}",
                 "Fix that line, or remove it, and run the whole notebook again from the top.")  # fmt: skip


def _lines(cell: NotebookNode) -> Iterator[str]:
    """The lines of the cell at which tracebacks point."""
    written = {line.strip() for line in cell.source.split("\n")} - {""}
    for output in cell.outputs:
        for text in output.get("traceback", ()) if output.output_type == "error" else ():
            shown = (line.strip() for line in _ARROW.findall(_COLOUR.sub("", text)))
            yield from (line[:_MAX_LINE] for line in shown if line in written)

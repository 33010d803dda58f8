"""How the visible checks ended: what a student may know of a graded cell before the hidden tests are shown.

The judge decides over hidden answers alone, so a verdict says nothing about the visible check. Its words stand in the
graded notebook, where :func:`autograder.pipeline.judge.write_into` has put the judge's own outputs behind them.
Whoever forges a visible outcome deceives only themselves: no point depends on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.verdict import CellVerdict

#: An error of the visible part, as the judge rewrites it: "CheckFailed: attention_block: ...".
_ERROR = re.compile(r"[^\W\d]\w*: ")
#: What a check prints that passed, and one that only reads what was chosen.
_SAID = ("✓ ", "– ")


@dataclass(frozen=True)
class VisibleCheck:
    """``silent``: the check was not reached, or said nothing."""

    status: Literal["passed", "failed", "silent"]
    text: str = ""


def visible_check(notebook: NotebookNode | None, verdict: CellVerdict) -> VisibleCheck:
    """The outcome of the visible part of one judged cell.

    notebook: as graded; None where it was never run, and then the verdict's own reason is no secret.
    """
    if notebook is None:
        return VisibleCheck("failed", "\n".join(check.message for check in verdict.checks if not check.passed))
    cell = next((cell for cell in notebook.cells if cells.grade_id(cell) == verdict.cell), None)
    outputs = _own(cell, verdict) if cell is not None else []
    texts = [output.text for output in outputs if output.output_type == "stream"]
    last = texts[-1] if outputs and outputs[-1].output_type == "stream" else ""
    ticked = any(line.startswith(_SAID) for line in last.split("\n"))
    if _ERROR.match(last) and not ticked:
        return VisibleCheck("failed", last.removeprefix("CheckFailed: ").strip())
    ticks = [line for text in texts for line in text.split("\n") if line.startswith(_SAID)]
    return VisibleCheck("passed", "\n".join(ticks)) if ticks else VisibleCheck("silent")


def _own(cell: NotebookNode, verdict: CellVerdict) -> list[NotebookNode]:
    """The outputs without those that the judge added at the end: a number and its reasons, or an error."""
    added = {"passed": 0, "partial": 2}.get(verdict.status, 1)
    return list(cell.outputs[: len(cell.outputs) - added])

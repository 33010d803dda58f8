"""Where a plain test cell is judged: decided from the instructor's notebook alone, before anything is run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from nbformat import NotebookNode

from autograder.model import cells
from autograder.plain.rules import RULES
from autograder.plain.view import view


@dataclass(frozen=True)
class Judged:
    """``outside``: in the tester, which never runs a line of the student's. ``kernel``: in the student's own kernel.

    reason: one sentence for the instructor; empty for ``outside``.
    """

    where: Literal["outside", "kernel"]
    reason: str = ""


def plain_cells(source: NotebookNode) -> list[int]:
    """The indices of the graded code cells that no stored reference judges. Raises nothing."""
    return [index for index, cell in enumerate(source.cells) if is_plain(cell)]


def is_plain(cell: NotebookNode) -> bool:
    if not cells.is_autograded(cell):
        return False
    try:
        return not cells.references_of(cell.source)
    except (ValueError, SyntaxError):
        return "reference" not in cell.source


def where_judged(
    source: NotebookNode, files: Collection[str] = (), deliverables: Collection[str] = ()
) -> dict[str, Judged]:
    """Grade id -> where it is judged, for every plain test cell of an instructor's notebook.

    files: paths that lie beside the notebook, in both kernels. deliverables: those of them that students write.
    """
    return {
        cells.nbgrader(source.cells[index])["grade_id"]: _decide(source, index, files, deliverables)
        for index in plain_cells(source)
    }


def _decide(source: NotebookNode, index: int, files: Collection[str], deliverables: Collection[str]) -> Judged:
    try:
        cell = view(source, index, files, deliverables)
    except SyntaxError as error:
        return Judged("kernel", f"it is no Python ({error.msg})")
    reason = next((reason for rule in RULES if (reason := rule(cell))), None)
    return Judged("kernel", reason) if reason else Judged("outside")

"""Where a plain test cell is judged: as the calibration found out, unless its own text decides it."""

from __future__ import annotations

from collections.abc import Mapping

from nbformat import NotebookNode

from autograder.assignment.calibration import CellCalibration
from autograder.model import cells
from autograder.model.questions import asking
from autograder.plain.rules import reason_for

NOT_CALIBRATED = "nobody has run the instructor's solution yet to find out where it can be judged"


def plain_cells(source: NotebookNode) -> list[int]:
    """The indices of the graded code cells that no stored reference judges. Raises nothing."""
    return [index for index, cell in enumerate(source.cells) if is_plain(cell)]


def is_plain(cell: NotebookNode) -> bool:
    if not cells.is_autograded(cell) or asking(cell) is not None:
        return False
    try:
        return not cells.references_of(cell.source)
    except (ValueError, SyntaxError):
        return "reference" not in cell.source


def where_judged(source: NotebookNode, calibration: Mapping[str, CellCalibration]) -> dict[str, CellCalibration]:
    """Grade id -> where it is judged, for every plain test cell of an instructor's notebook."""
    found = {}
    for index in plain_cells(source):
        name = cells.nbgrader(source.cells[index])["grade_id"]
        reason = reason_for(source, index)
        known = calibration.get(name, CellCalibration("kernel", NOT_CALIBRATED))
        found[name] = CellCalibration("kernel", reason, known.problem) if reason else known
    return found

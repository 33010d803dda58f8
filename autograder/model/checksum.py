"""nbgrader's checksum of a cell, as its ``compute_checksum`` makes it.

Computed here because ``import nbgrader`` takes a second, which every worker would pay; a test holds both together.
"""

from __future__ import annotations

import hashlib

from nbformat import NotebookNode

from autograder.model.cells import nbgrader


def checksum_of(cell: NotebookNode) -> str:
    """Of a cell with a grade id: its text, its kind, what nbgrader does with it, its name and its points."""
    marks = nbgrader(cell)
    grade, solution = marks.get("grade", False), marks.get("solution", False)
    locked = False if solution else True if grade else marks.get("locked", False)
    parts = [cell.source, cell.cell_type, str(grade), str(solution), str(locked), marks["grade_id"]]
    if grade:
        parts.append(str(float(marks["points"])))
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()

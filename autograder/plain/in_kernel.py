"""The cells of an assignment that are judged in the student's own kernel: what is said of them, and refusing them."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.model import cells
from autograder.plain.where import is_plain, where_judged


@dataclass(frozen=True)
class KernelCell:
    """A plain test cell whose points rest on what the student's own process says. reason: one sentence."""

    notebook: str
    cell: str
    points: float
    reason: str

    def __str__(self) -> str:
        points = f"{self.points:g} point{'s' * (self.points != 1)}"
        return f"{self.notebook}.ipynb, cell '{self.cell}' ({points}): {self.reason}"


def judged_in_kernel(assignment: Assignment) -> list[KernelCell]:
    """Those that have points, in order of notebooks and cells."""
    found = []
    for name, notebook in assignment.source.items():
        calibration = assignment.calibration.cells_of(name) if assignment.calibration is not None else {}
        judged = where_judged(notebook, calibration)
        for cell in notebook.cells:
            one = judged.get(cells.grade_id(cell) or "") if cells.is_autograded(cell) else None
            if one is not None and one.judged == "kernel" and (points := cells.max_points(cell)):
                found.append(KernelCell(name, cells.nbgrader(cell)["grade_id"], points, one.reason))
    return found


def require_outside(assignment: Assignment, required: bool) -> None:
    """Raises GradingError that names every cell judged in the student's own kernel, where none is to be."""
    found = judged_in_kernel(assignment) if required else []
    if found:
        named = "; ".join(map(str, found))
        raise GradingError(
            f"{assignment.name}: --require-outside was given, but {len(found)} cell{'s are' if found[1:] else ' is'} "
            f"judged in the student's own kernel: {named}. Write the tests otherwise (docs/plain-tests.md), or leave "
            "the option out"
        )


def summary(assignment: Assignment) -> list[str]:
    """``ps1: 41 cells: 36 judged by both judges, 3 in the student's kernel, 2 by a person``, then the reasons."""
    graded = [cell for book in assignment.source.values() for cell in book.cells if cells.is_graded(cell)]
    plain = [cell for cell in graded if is_plain(cell)]
    inside, by_hand = judged_in_kernel(assignment), sum(map(cells.is_manually_graded, graded))
    parts = [f"{len(plain) - len(inside)} judged by both judges", f"{len(inside)} in the student's kernel alone"]
    parts += [f"{len(graded) - len(plain) - by_hand} by references"] if len(graded) > len(plain) + by_hand else []
    parts += [f"{by_hand} by a person"] if by_hand else []
    return [f"{assignment.name}: {len(graded)} cells: {', '.join(parts)}", *(f"    {one}" for one in inside)]

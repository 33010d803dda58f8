"""The same notebooks with every seed moved: what a solution gives then as well does not depend on chance."""

import re
from dataclasses import replace

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment

#: What tells that a notebook may draw numbers.
_CHANCE = re.compile(r"rand|seed|shuffle|sample|torch|sklearn|keras")
#: How far the seeds are moved in each run more.
OFFSETS = (7919, 104_729)
#: Runs in the kernel of the solution and in the tester, before all other cells.
_MOVE = """
def _moved(module, name):
    seed = getattr(module, name)

    def moved(value=None, *args, **kwargs):
        return seed(value + {offset} if type(value) is int else value, *args, **kwargs)

    setattr(module, name, moved)
    if name in ("seed", "manual_seed"):
        moved(0)


def _move():
    import importlib
    import sys

    found = {"random": ("seed", "Random"), "numpy.random": ("seed", "default_rng", "RandomState")}
    if "torch" in sys.modules or {torch}:
        found["torch"] = ("manual_seed",)
    for module, names in found.items():
        for name in names:
            _moved(importlib.import_module(module), name)


_move()
"""


def has_chance(notebook: NotebookNode) -> bool:
    return any(_CHANCE.search(cell.source) for cell in notebook.cells if cell.cell_type == "code")


def with_moved_seeds(assignment: Assignment, offset: int) -> Assignment:
    return replace(
        assignment,
        source={name: _with_cell(book, offset) for name, book in assignment.source.items()},
        release={name: _with_cell(book, offset) for name, book in assignment.release.items()},
    )


def _with_cell(notebook: NotebookNode, offset: int) -> NotebookNode:
    made = nbformat.from_dict(notebook)
    torch = any("torch" in cell.source for cell in notebook.cells if cell.cell_type == "code")
    cell = nbformat.v4.new_code_cell(
        _MOVE.replace("{torch}", str(torch)).replace("{offset}", str(offset)), id="moved-seeds"
    )
    marks = {"grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3}
    cell.metadata["nbgrader"] = {**marks, "grade_id": "moved-seeds"}
    made.cells.insert(0, cell)
    return made

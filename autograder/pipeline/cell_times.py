"""How long the instructor's own solution takes, cell by cell, and the time limits that are made of it.

``autograder release`` runs the solutions and notes their times in ``.autograder/``: they are this machine's own. Where
nothing is noted, every cell has the same limit.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from autograder.files.atomic import write_file
from autograder.model.limits import CellLimits
from autograder.pipeline.execute import ExecutedNotebook

#: A cell may take so many times as long as the solution, but never less than the first of ``STEPS``.
MULTIPLE = 20.0
#: Limits in seconds. There are few of them, so that measuring again does not change what a grade depends on.
STEPS = (10.0, 20.0, 30.0, 45.0, 60.0)

#: notebook -> cell id -> seconds
Seconds = Mapping[str, Mapping[str, float]]


def pace_path(root: Path, assignment: str) -> Path:
    return root / ".autograder" / "seconds" / f"{assignment}.json"


def record_pace(root: Path, assignment: str, seconds: Seconds) -> None:
    """Note what the solution's cells took, in place of what was noted before."""
    rounded = {name: {cell: round(taken, 2) for cell, taken in found.items()} for name, found in seconds.items()}
    write_file(pace_path(root, assignment), (json.dumps(rounded, indent=1) + "\n").encode())


def seconds_of(ran: ExecutedNotebook) -> dict[str, float]:
    """cell id -> what its slower part took."""
    return {
        ran.notebook.cells[one.index].id: max(part.seconds for part in (one.visible, one.hidden) if part)
        for one in ran.outcomes
    }


def limits_of(root: Path, assignment: str, longest: float) -> dict[str, CellLimits]:
    """notebook -> its cells' limits, none above ``longest``; empty where no solution was timed, or nobody can tell."""
    try:
        noted = json.loads(pace_path(root, assignment).read_text(encoding="utf-8"))
        return {name: {cell: _limit(taken, longest) for cell, taken in found.items()} for name, found in noted.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _limit(taken: float, longest: float) -> float:
    return min(longest, next((step for step in STEPS if step >= MULTIPLE * taken), longest))

"""Which of the gradebook's late penalties ``late_policy.toml`` put there, so that they can be taken back.

nbgrader's own penalties stand in the same place. Whoever deletes the policy wants ours gone and nbgrader's kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from autograder.files.atomic import write_file

_TOLERANCE = 1e-9  # points: a sum of the same numbers in another order


def _path(root: Path, assignment: str) -> Path:
    return root / ".autograder" / "penalties" / f"{assignment}.json"


def read_written(root: Path, assignment: str) -> dict[str, float]:
    """Student to the points that we took off last; empty where we took none, or the record is damaged."""
    try:
        found = json.loads(_path(root, assignment).read_text(encoding="utf-8"))
        return {str(student): float(points) for student, points in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def record_written(root: Path, assignment: str, points: Mapping[str, float]) -> None:
    """Replace the record; nothing stays of an empty one."""
    path = _path(root, assignment)
    taken = {student: points[student] for student in sorted(points) if points[student]}
    if not taken:
        path.unlink(missing_ok=True)
        return
    write_file(path, (json.dumps(taken, indent=1, ensure_ascii=False) + "\n").encode())


def is_ours(penalty: float, written: float | None) -> bool:
    """Whether a student's penalty in the gradebook is the one that we wrote there."""
    return written is not None and abs(penalty - written) <= _TOLERANCE

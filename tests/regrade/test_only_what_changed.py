"""What was run once is judged without a run, and nobody can tell the difference.

``CHANGES=20 pytest tests/regrade/test_only_what_changed.py`` makes all of the changes; otherwise some, by chance.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.gradebook.gather import gather
from autograder.model.course import Course
from tests.regrade.changing_course import CHANGES, SHEET, fresh, make, without_times

pytestmark = [pytest.mark.slow]

SOME = 3


def run(root: Path, *words: str) -> str:
    done = subprocess.run(
        [Path(sys.executable).with_name("autograder"), "--course", str(root), *words], capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout + done.stderr


def everything(root: Path) -> dict[str, object]:
    """All that a student or an instructor gets to see: points, verdicts, notebooks, feedback."""
    run(root, "feedback", SHEET)
    seen: dict[str, object] = {}
    for stage in ("autograded", "feedback"):
        for path in sorted((root / stage).rglob("*")):
            if path.is_file() and path.name != "grading.log":
                seen[str(path.relative_to(root))] = without_times(path.read_text())
    for row in gather(Course(root), SHEET).rows:
        seen[row.student.id] = [(key, one.points, one.max_points, one.status) for key, one in row.exercises.items()]
    return seen


def test_after_any_change_the_result_is_that_of_a_full_run(tmp_path):
    root = tmp_path / "course"
    make(root)
    run(root, "grade", SHEET)
    order = random.Random().sample(sorted(CHANGES), int(os.environ.get("CHANGES", SOME)))
    for number, name in enumerate(order):
        CHANGES[name](root)
        run(root, "grade", SHEET)
        other = fresh(root, tmp_path / f"fresh{number}")
        run(other, "grade", SHEET)
        assert everything(root) == everything(other), order[: number + 1]

"""Putting collected uploads in their places: one student at a time, as a whole, and nothing is lost."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autograder.collect.gathering import Collected
from autograder.collect.plan import Plan
from autograder.model.course import Course


@dataclass(frozen=True)
class WrittenSubmission:
    """What became of one student's upload; ``kept_at``: where the replaced one lies."""

    student: str
    what: Literal["new", "unchanged", "replaced", "differs", "empty", "refused"]
    kept_at: Path | None = None


def write_plan(course: Course, assignment: str, plan: Plan, force: bool) -> list[WrittenSubmission]:
    """Write every upload that holds something. One that differs from what is there replaces it only with ``force``."""
    return [_write(course, assignment, one, force) for one in plan.students]


def _write(course: Course, assignment: str, one: Collected, force: bool) -> WrittenSubmission:
    if not one.taken:
        return WrittenSubmission(one.student, "empty")
    target = course.submitted(one.student, assignment)
    if target.is_symlink() or target.parent.is_symlink():
        return WrittenSubmission(one.student, "refused")
    kept_at = None
    if target.exists():
        if _same(one.folder, target):
            return WrittenSubmission(one.student, "unchanged")
        if not force:
            return WrittenSubmission(one.student, "differs")
        kept_at = _free(course.root / ".autograder" / "replaced" / assignment, one.student)
        shutil.move(target, kept_at)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(one.folder, target)
    return WrittenSubmission(one.student, "replaced" if kept_at else "new", kept_at)


def _same(new: Path, old: Path) -> bool:
    def contents(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    return contents(new) == contents(old)


def _free(folder: Path, student: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while (folder / f"{student}-{number}").exists():
        number += 1
    return folder / f"{student}-{number}"

"""When each submission came in, by our own record. What a student's folder says about it counts for nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from autograder.errors import GradingError


def times_path(root: Path, assignment: str) -> Path:
    return root / ".autograder" / "times" / f"{assignment}.json"


def read_times(root: Path, assignment: str) -> dict[str, datetime]:
    """Student to the moment their submission came in, aware, in UTC; empty where nothing was recorded.

    Raises GradingError where the record cannot be read.
    """
    path = times_path(root, assignment)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        found = {student: datetime.fromisoformat(when) for student, when in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise GradingError(
            f"{path}: expected student to ISO time, as 'autograder collect' writes it ({error})"
        ) from error
    return {
        student: (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC) for student, when in found.items()
    }


def record_times(root: Path, assignment: str, times: Mapping[str, datetime]) -> None:
    """Add or replace the moments of these students (aware datetimes); all of them or none."""
    path = times_path(root, assignment)
    merged = {**read_times(root, assignment), **times}
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    lines = {student: merged[student].astimezone(UTC).isoformat() for student in sorted(merged)}
    fresh.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(fresh, path)

"""Plain tests that pass in the student's kernel and not outside of it: what a person accepts, with the reason.

The points become a manual grade in nbgrader's gradebook; reason and date are kept in ``.autograder/accepted/``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.gradebook.read import Key
from autograder.gradebook.results import StudentResult
from autograder.gradebook.write import give_points


@dataclass(frozen=True)
class Disputed:
    """One test of one student. points: those that count; inside: those in the student's kernel, which are more."""

    student: str
    notebook: str
    cell: str
    points: float
    inside: float
    refused: str

    def __str__(self) -> str:
        why = f": {self.refused}" if self.refused else ""
        return (
            f"{self.student}, {self.notebook}/{self.cell}: {self.points:g} points count, {self.inside:g} in the "
            f"student's kernel alone{why}"
        )


def disputed(rows: Iterable[StudentResult]) -> list[Disputed]:
    """What waits for a person to accept it, or to leave it as it is."""
    return [
        Disputed(row.student.id, *key, one.points, one.inside, one.refused)
        for row in rows
        for key, one in row.exercises.items()
        if one.inside is not None and one.points is not None
    ]


def refused(rows: Iterable[StudentResult]) -> dict[tuple[str, str, str], list[str]]:
    """(notebook, cell, what was refused) -> students whose points do not depend on it: no judge passes them."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for key, one in row.exercises.items():
            if one.refused and one.inside is None:
                found.setdefault((*key, one.refused), []).append(row.student.id)
    return found


def accept(root: Path, db_url: str, assignment: str, one: Disputed, reason: str) -> Path:
    """Give the points; the file in which the reason is kept. Raises GradingError."""
    path = root / ".autograder" / "accepted" / f"{assignment}.json"
    try:
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise GradingError(f"{path} cannot be read: {error}; mend it, or delete it") from error
    entry = {"points": one.inside, "reason": reason, "date": date.today().isoformat()}
    kept.setdefault(one.student, {})[f"{one.notebook}/{one.cell}"] = entry
    write_file(path, (json.dumps(kept, indent=1, ensure_ascii=False) + "\n").encode())
    give_points(db_url, assignment, one.student, (one.notebook, one.cell), one.inside)
    return path


def reason_of(root: Path, assignment: str, student: str, key: Key) -> str:
    """Why it was accepted, with the date; empty where it was not."""
    path = root / ".autograder" / "accepted" / f"{assignment}.json"
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))[student]["/".join(key)]
        return f"accepted: {entry['reason']} ({entry['date']})"
    except (OSError, ValueError, KeyError, TypeError):
        return ""

"""Plain tests that hold for other values than the solution's: what a person accepts, with the reason.

The points become a manual grade in nbgrader's gradebook; reason and date are kept in ``.autograder/accepted/``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from autograder.errors import GradingError
from autograder.gradebook.read import Key
from autograder.gradebook.records import read_by_student, record_path, write_by_student
from autograder.gradebook.results import StudentResult
from autograder.gradebook.write import give_points


@dataclass(frozen=True)
class Offered:
    """One test of one student, which waits. points: those that one word gives; why: in words for the instructor."""

    student: str
    notebook: str
    cell: str
    points: float
    why: str

    @property
    def reason(self) -> str:
        """What is the same for all who wait for the same."""
        why = f": {self.why}" if self.why else ""
        return f"{self.notebook}/{self.cell}, {self.points:g} points wait{'s' * (self.points == 1)} for your word{why}"

    def __str__(self) -> str:
        return f"{self.student}, {self.reason}"


def offered(rows: Iterable[StudentResult]) -> list[Offered]:
    """What waits for a person to accept it, or to give fewer points."""
    return [
        Offered(row.student.id, *key, one.offered, one.refused)
        for row in rows
        for key, one in row.exercises.items()
        if one.offered is not None and one.points is None
    ]


def in_groups(waiting: Iterable[Offered]) -> list[str]:
    """A line for all who wait for the same, with their names."""
    found: dict[str, list[str]] = {}
    for one in waiting:
        found.setdefault(one.reason, []).append(one.student)
    return [f"{', '.join(students)}: {reason}" for reason, students in found.items()]


def accept(root: Path, db_url: str, assignment: str, one: Offered, reason: str) -> Path:
    """Give the points; the file in which the reason is kept. Raises GradingError."""
    path = record_path(root, "accepted", assignment)
    kept = read_by_student(path, dict, "mend it, or delete it")
    entry = {"points": one.points, "reason": reason, "date": date.today().isoformat()}
    kept.setdefault(one.student, {})[f"{one.notebook}/{one.cell}"] = entry
    write_by_student(path, kept)
    give_points(db_url, assignment, one.student, (one.notebook, one.cell), one.points)
    return path


def reason_of(root: Path, assignment: str, student: str, key: Key) -> str:
    """Why it was accepted, with the date; empty where it was not."""
    path = record_path(root, "accepted", assignment)
    try:
        entry = read_by_student(path, dict, "")[student]["/".join(key)]
        return f"accepted: {entry['reason']} ({entry['date']})"
    except (GradingError, KeyError, TypeError):
        return ""

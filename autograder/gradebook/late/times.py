"""When each submission came in, by our own record. What a student's folder says about it counts for nothing.

A record is given by the instructor, or seen in nbgrader's exchange (:mod:`autograder.assignment.exchange`); the latter
belongs to the one submission that was seen, and goes with it.
"""

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.assignment import exchange
from autograder.gradebook.records import read_by_student, record_path, write_by_student
from autograder.model.course import Course


@dataclass(frozen=True)
class Record:
    """``time``: aware. ``submission``: the one it belongs to, where the exchange tells; else whatever is there."""

    time: datetime
    submission: str = ""


def course_times(course: Course, assignment: str) -> dict[str, datetime]:
    """:func:`read_times`, after a look into nbgrader's exchange for what ``nbgrader collect`` took from there."""
    records = _read(course.root, assignment)
    seen = {student: exchange.submission_id(course.submitted(student, assignment)) for student in
            course.everybody_submitted(assignment)} if exchange.is_there(course) else {}  # fmt: skip
    changed: dict[str, Record | None] = {}
    for student, submission in seen.items():
        known = records.get(student)
        if not submission or (known and known.submission == submission):
            continue
        found = exchange.origin(course, assignment, student)
        if found is not None:
            changed[student] = Record(found.came_in, submission)
            if found.remark:
                print(f"autograder: {student}: {found.remark}", file=sys.stderr)
        elif known and known.submission:
            changed[student] = None  # it was the time of another submission
    if changed:
        _write(course.root, assignment, {**records, **changed})
    return read_times(course.root, assignment)


def read_times(root: Path, assignment: str) -> dict[str, datetime]:
    """Student to the moment their submission came in, aware, in UTC; empty where nothing was recorded.

    Raises GradingError where the record cannot be read.
    """
    return {student: record.time for student, record in _read(root, assignment).items()}


def record_times(
    root: Path, assignment: str, times: Mapping[str, datetime | Record], forget: Collection[str] = ()
) -> None:
    """Add or replace the moments of these students (aware), and drop those of ``forget``; all of them or none."""
    given = {student: when if isinstance(when, Record) else Record(when) for student, when in times.items()}
    before = _read(root, assignment)
    after = {**before, **dict.fromkeys(forget), **given}
    if after != before:
        _write(root, assignment, after)


def _read(root: Path, assignment: str) -> dict[str, Record]:
    remedy = "expected student to ISO time, as 'autograder collect' writes it"
    return read_by_student(record_path(root, "times", assignment), _record, remedy)


def _record(said: str | dict[str, str]) -> Record:
    text, submission = (said, "") if isinstance(said, str) else (said["time"], said["submission"])
    when = datetime.fromisoformat(text)
    return Record((when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC), submission)


def _write(root: Path, assignment: str, records: Mapping[str, Record | None]) -> None:
    lines: dict[str, str | dict[str, str]] = {}
    for student, record in records.items():
        if record is not None:
            when = record.time.astimezone(UTC).isoformat()
            lines[student] = {"time": when, "submission": record.submission} if record.submission else when
    write_by_student(record_path(root, "times", assignment), lines)

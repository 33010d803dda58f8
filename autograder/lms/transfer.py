"""Between a course and an assignment in Canvas: submissions in, with their true times; grades and pages out."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from autograder.collect.origins import Origin
from autograder.errors import GradingError
from autograder.gradebook.results import ResultsTable, StudentResult
from autograder.lms.api import CanvasAssignment, CanvasSubmission
from autograder.lms.pages import Pages


def fetch(assignment: CanvasAssignment, archive: Path) -> dict[str, datetime]:
    """Write the zip that Canvas's *Download Submissions* would give.

    Returns Canvas's number of each student -> when the submission came in. Raises GradingError where there is no file.
    """
    times: dict[str, datetime] = {}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for one in assignment.submissions():
            for file in one.attachments:
                late = "LATE_" if one.late else ""
                name = f"{_word(one.name)}_{late}{one.user}_{file.id}_{PurePosixPath(file.filename).name}"
                made.writestr(name, assignment.download(file))
                if one.submitted_at is not None:
                    times[one.user] = one.submitted_at
        if not made.namelist():
            raise GradingError("nobody has handed in a file to this assignment in Canvas")
    return times


@dataclass(frozen=True)
class CanvasChange:
    """What one student would get. ``score``: None where Canvas has it already; ``files``: those Canvas has not."""

    student: str
    user: str
    before: float | None
    score: float | None
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return self.score is None and not self.files


@dataclass(frozen=True)
class CanvasChanges:
    """``left_out``: student -> why nothing is sent for them."""

    students: tuple[CanvasChange, ...]
    left_out: Mapping[str, str]


def changes(table: ResultsTable, pages: Pages, origins: Mapping[str, Origin], there: CanvasAssignment) -> CanvasChanges:
    """What Canvas does not have yet. Raises GradingError where the assignment there has other points."""
    if there.max_points is not None and abs(there.max_points - table.max_points) > 0.005:
        raise GradingError(
            f"{table.assignment} has {table.max_points:g} points, and {there.max_points:g} in Canvas: change it there"
        )
    submissions = {one.user: one for one in there.submissions()}
    found: list[CanvasChange] = []
    left_out: dict[str, str] = {}
    for row in table.rows:
        student = row.student.id
        if not row.exercises:
            continue
        user = _user(row, origins.get(student))
        if user not in submissions:
            left_out[student] = "Canvas's number for them is not known: 'autograder canvas pull' learns it"
        elif row.score is None:
            left_out[student] = f"no score yet ({row.state})"
        else:
            found.append(_change(row, row.score, submissions[user], pages.get(student, {})))
    doubled = {one.user for one in found if sum(other.user == one.user for other in found) > 1}
    left_out.update(
        {one.student: f"two students have Canvas's number {one.user}" for one in found if one.user in doubled}
    )
    return CanvasChanges(tuple(one for one in found if one.user not in doubled), left_out)


def _change(row: StudentResult, score: float, there: CanvasSubmission, own: Mapping[str, bytes]) -> CanvasChange:
    same = there.score is not None and abs(there.score - score) < 0.005
    files = {_named(name, data): data for name, data in own.items()}
    fresh = {name: data for name, data in files.items() if name not in there.comment_files}
    return CanvasChange(row.student.id, there.user, there.score, None if same else score, fresh)


def _user(row: StudentResult, origin: Origin | None) -> str:
    """Canvas's number, by which the submission came, or as nbgrader's gradebook has it."""
    return origin.id if origin is not None and origin.kind == "canvas" else row.student.lms_user_id.strip()


def _named(name: str, data: bytes) -> str:
    """With a digest in it: a page that Canvas has already is not sent twice, and a changed one is."""
    return f"{PurePosixPath(name).stem}.{hashlib.sha256(data).hexdigest()[:8]}.html"


def _word(name: str) -> str:
    word = re.sub(r"[\W_]", "", name).casefold()
    return f"student{word}" if not word or word.isdigit() else word

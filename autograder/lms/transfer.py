"""Between a course and an assignment in Canvas: submissions in, with their true times; grades and pages out."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from autograder.collect.archive import Refused
from autograder.collect.people import Person
from autograder.collect.plan import Sent, SentFile
from autograder.errors import GradingError
from autograder.gradebook.late.times import Record
from autograder.gradebook.results import ResultsTable, StudentResult
from autograder.lms.api import Attachment, CanvasAssignment, CanvasSubmission
from autograder.lms.pages import Pages


def sent(assignment: CanvasAssignment) -> list[Sent]:
    """What everybody has handed in. Nothing is loaded yet: files are read one by one, where they are wanted."""
    found = []
    for one in assignment.submissions():
        person = Person(one.user, one.name, one.logins, next((login for login in one.logins if "@" in login), ""))
        files = tuple(_file(assignment, file) for file in one.attachments)
        came_in = Record(one.submitted_at) if one.submitted_at is not None else None
        found.append(Sent(person, files, came_in, one.late))
    if not any(one.files for one in found):
        raise GradingError("nobody has handed in a file to this assignment in Canvas")
    return found


def _file(assignment: CanvasAssignment, file: Attachment) -> SentFile:
    def read(limit: int) -> bytes:
        try:
            return assignment.download(file, limit)
        except GradingError as error:
            raise Refused(str(error)) from error

    name = PurePosixPath(file.filename.replace("\\", "/")).name
    return SentFile(name, file.size, read, f"#{file.id} {name}")


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


def changes(table: ResultsTable, pages: Pages, numbers: Mapping[str, str], there: CanvasAssignment) -> CanvasChanges:
    """What Canvas does not have yet. numbers: student -> Canvas's, as the roster has them.

    Raises GradingError where the assignment there has other points.
    """
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
        user = numbers.get(student, "")
        if user not in submissions:
            learns = f"'autograder collect {table.assignment} --from canvas' learns it"
            left_out[student] = f"Canvas's number for them is not known: {learns}"
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
    # with a digest in the name: a page that Canvas has already is not sent twice, and a changed one is
    digests = {name: hashlib.sha256(data).hexdigest()[:8] for name, data in own.items()}
    files = {f"{PurePosixPath(name).stem}.{digests[name]}.html": data for name, data in own.items()}
    fresh = {name: data for name, data in files.items() if name not in there.comment_files}
    return CanvasChange(row.student.id, there.user, there.score, None if same else score, fresh)

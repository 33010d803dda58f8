"""Between a course and an assignment in Canvas: submissions in, with their true times; grades and pages out.

By ``canvasapi``, which the extra ``canvas`` installs. The token is read from the environment and goes into the
header of requests to the Canvas server alone: it is in no argument, no file, no log and no message.
"""

import hashlib
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from autograder.collect.archive import Refused
from autograder.collect.lists import Person
from autograder.collect.plan import Sent, SentFile
from autograder.errors import GradingError
from autograder.exports.sheet import number
from autograder.files.temporary import TemporaryFolder
from autograder.gradebook.late.times import Record
from autograder.gradebook.results import ResultsTable, StudentResult
from autograder.lms.pages import Pages
from autograder.model.course_file import CanvasCourse

TOKEN = "CANVAS_API_TOKEN"
PER_PAGE, MAX_PAGES = 100, 1000
_SECONDS = 60


@dataclass(frozen=True)
class Attachment:
    """One file of a submission. ``size``: in bytes, as Canvas has it; None where it does not say."""

    id: str
    filename: str
    url: str
    size: int | None = None


@dataclass(frozen=True)
class CanvasSubmission:
    """``user``: Canvas's number; ``logins``: what an administrator gave them; ``submitted_at``: aware, None where
    nothing was handed in; ``score``: as it is in Canvas now; ``comment_files``: the names of the files in comments.
    """

    user: str
    name: str
    submitted_at: datetime | None
    late: bool
    score: float | None
    attachments: tuple[Attachment, ...] = ()
    comment_files: frozenset[str] = frozenset()
    logins: tuple[str, ...] = ()


class CanvasAssignment:
    """One assignment on a Canvas server. Every method raises GradingError where the server refuses."""

    def __init__(self, settings: CanvasCourse, name: str, token: str) -> None:
        self._settings, self._number, self._token = settings, settings.assignments[name], token
        with self._speaking():
            from canvasapi import Canvas

            logging.getLogger("canvasapi").setLevel(logging.CRITICAL)  # it logs headers, shortened, and file contents
            course = Canvas(settings.url, token).get_course(settings.course)
            self._assignment: Any = course.get_assignment(self._number)
            self._requester: Any = self._assignment._requester

    @property
    def max_points(self) -> float | None:
        return getattr(self._assignment, "points_possible", None)

    def submissions(self) -> list[CanvasSubmission]:
        """Everybody's, also of those who handed in nothing."""
        place = f"courses/{self._settings.course}/assignments/{self._number}/submissions"
        asked = [("include[]", "user"), ("include[]", "submission_comments"), ("per_page", PER_PAGE)]
        found: list[CanvasSubmission] = []
        with self._speaking():
            response = self._requester.request("GET", place, _kwargs=asked)
            seen: set[str] = set()
            while True:
                found += [_submission(one) for one in response.json() if one.get("user_id")]
                following = response.links.get("next", {}).get("url", "")
                if not following:
                    return found
                if following in seen or len(seen) >= MAX_PAGES:
                    raise GradingError(f"Canvas at {self._settings.url} lists submissions without an end")
                if not self._is_own(following):  # it would be told the token
                    raise GradingError(f"Canvas at {self._settings.url} sends to another server for more submissions")
                seen.add(following)
                response = self._requester.request("GET", _url=following)

    def _is_own(self, url: str) -> bool:
        return urlsplit(url)[:2] == urlsplit(self._settings.url)[:2]

    def download(self, attachment: Attachment, limit: int) -> bytes:
        """The file. Another server than Canvas's own, such as its store of files, is not told the token."""
        import requests

        headers = {"Authorization": f"Bearer {self._token}"} if self._is_own(attachment.url) else {}
        with self._speaking():
            with requests.get(attachment.url, headers=headers, stream=True, timeout=_SECONDS) as response:
                response.raise_for_status()
                data = bytearray()
                for piece in response.iter_content(1 << 16):
                    data += piece
                    if len(data) > limit:
                        raise GradingError(f"{attachment.filename} is larger than {limit >> 20} MB")
            return bytes(data)

    def send(self, user: str, score: float | None, files: dict[str, bytes]) -> None:
        """Write grade and files in one step, so that an interrupted run leaves no half of it.

        score: None leaves Canvas's own. files: name -> content, in one comment.
        """
        from canvasapi.upload import Uploader

        with self._speaking(), TemporaryFolder("canvas-") as temporary:
            place = f"courses/{self._settings.course}/assignments/{self._number}/submissions/{user}"
            numbers = []
            for name, data in files.items():
                path = temporary / name
                path.write_bytes(data)
                done, answer = Uploader(self._requester, f"{place}/comments/files", str(path)).start()
                if not done:
                    raise GradingError(f"Canvas did not take {name}")
                numbers.append(answer["id"])
            fields: list[tuple[str, Any]] = [("comment[file_ids][]", one) for one in numbers]
            if numbers:
                fields.append(("comment[text_comment]", "Feedback: see the attached pages."))
            if score is not None:
                fields.append(("submission[posted_grade]", number(score, 2)))
            if fields:
                self._requester.request("PUT", place, _kwargs=fields)

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Errors of the way to Canvas, in one line and without the token."""
        try:
            yield
        except ImportError:
            raise GradingError("canvasapi is missing: pip install 'transformer-course-autograder[canvas]'") from None
        except GradingError:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {error}".replace(self._token, "...")[:300]
            raise GradingError(f"Canvas at {self._settings.url}: {said}") from None


def open_assignment(settings: CanvasCourse, name: str) -> CanvasAssignment:
    """The assignment in Canvas. Raises GradingError where ``course.toml`` or the environment lacks something."""
    if not settings.url or not settings.course or name not in settings.assignments:
        raise GradingError(
            f"course.toml does not say where {name} lies in Canvas: expected [canvas] with url and course (a number), "
            f"and [canvas.assignments] with {name} = its number"
        )
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise GradingError(f"set {TOKEN} in the environment (Canvas: Account > Settings > New Access Token)")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise GradingError(f"{TOKEN} is no token: expected letters, digits and signs without a space")
    return CanvasAssignment(settings, name, token)


def _submission(one: dict[str, Any]) -> CanvasSubmission:
    user = one.get("user") or {}
    files = [file for comment in one.get("submission_comments") or [] for file in comment.get("attachments") or []]
    submitted = one.get("submitted_at")
    logins = (str(user.get(key) or "") for key in ("login_id", "sis_user_id"))
    return CanvasSubmission(
        str(one["user_id"]),
        str(user.get("sortable_name") or user.get("name") or ""),
        datetime.fromisoformat(submitted) if submitted else None,
        bool(one.get("late")),
        one.get("score"),
        tuple(map(_attachment, one.get("attachments") or [])),
        frozenset(map(_name, files)),
        tuple(filter(None, logins)),
    )


def _attachment(file: dict[str, Any]) -> Attachment:
    size = file.get("size")
    return Attachment(str(file["id"]), _name(file), str(file["url"]), size if isinstance(size, int) else None)


def _name(file: dict[str, Any]) -> str:
    return str(file.get("display_name") or file.get("filename"))


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

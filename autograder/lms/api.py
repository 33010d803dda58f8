"""Canvas's REST API, as far as a term needs it; by ``canvasapi``, which the extra ``canvas`` installs.

The token is read from the environment and goes into the header of requests to the Canvas server alone: it is in no
argument, no file, no log and no message.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from autograder.errors import GradingError
from autograder.exports.sheet import number
from autograder.model.course_file import CanvasCourse

TOKEN = "CANVAS_API_TOKEN"
MAX_BYTES = 512 << 20
_SECONDS = 60


@dataclass(frozen=True)
class Attachment:
    """One file of a submission."""

    id: str
    filename: str
    url: str


@dataclass(frozen=True)
class CanvasSubmission:
    """``user``: Canvas's number; ``submitted_at``: aware, None where nothing was handed in; ``score``: as it is in
    Canvas now; ``comment_files``: the names of the files in comments.
    """

    user: str
    name: str
    submitted_at: datetime | None
    late: bool
    score: float | None
    attachments: tuple[Attachment, ...] = ()
    comment_files: frozenset[str] = frozenset()


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
        with self._speaking():
            found = self._assignment.get_submissions(include=["user", "submission_comments"])
            return [_submission(one) for one in found if getattr(one, "user_id", None)]

    def download(self, attachment: Attachment, limit: int = MAX_BYTES) -> bytes:
        """The file. Another server than Canvas's own, such as its store of files, is not told the token."""
        import requests

        own = urlsplit(attachment.url)[:2] == urlsplit(self._settings.url)[:2]
        headers = {"Authorization": f"Bearer {self._token}"} if own else {}
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

        with self._speaking(), tempfile.TemporaryDirectory(prefix="canvas-") as temporary:
            place = f"courses/{self._settings.course}/assignments/{self._number}/submissions/{user}"
            numbers = []
            for name, data in files.items():
                path = Path(temporary, name)
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


def _submission(one: Any) -> CanvasSubmission:
    user = getattr(one, "user", None) or {}
    attachments = tuple(
        Attachment(str(file["id"]), str(file.get("display_name") or file.get("filename")), str(file["url"]))
        for file in _plain(getattr(one, "attachments", None) or [])
    )
    comments = getattr(one, "submission_comments", None) or []
    files = [file for comment in comments for file in comment.get("attachments") or []]
    submitted = getattr(one, "submitted_at", None)
    return CanvasSubmission(
        str(one.user_id),
        str(user.get("sortable_name") or user.get("name") or ""),
        datetime.fromisoformat(submitted) if submitted else None,
        bool(getattr(one, "late", False)),
        getattr(one, "score", None),
        attachments,
        frozenset(str(file.get("display_name") or file.get("filename")) for file in files),
    )


def _plain(files: list[Any]) -> list[dict[str, Any]]:
    """As Canvas sent them: ``canvasapi`` makes objects of some lists and leaves others."""
    return [file if isinstance(file, dict) else vars(file) for file in files]

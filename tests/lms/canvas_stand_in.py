"""A Canvas server for tests: the few addresses of its REST API that a term needs, on this machine.

Addresses and fields are those of https://canvas.instructure.com/doc/api/ (Submissions, Submission Comments, Uploading
Files). What it was sent is kept, to be compared.
"""

from __future__ import annotations

import email
import email.policy
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "1234~ThisIsTheInstructorsSecretToken"
COURSE, ASSIGNMENT = 12, 77
PER_PAGE = 2


class CanvasStandIn(ThreadingHTTPServer):
    """``submissions``: as the API lists them; ``files``: address -> content. ``puts``, ``uploads``: what came.
    ``refused``: users for whom the server fails. ``tokens``: path -> the token of each request.
    ``loaded``: the files that were asked for.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.submissions: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.puts: list[tuple[str, list[tuple[str, str]]]] = []
        self.uploads: dict[int, tuple[str, bytes]] = {}
        self.refused: set[str] = set()
        self.tokens: list[tuple[str, str]] = []
        self.points = 5.0
        self.loaded: list[str] = []
        self.next_page: str | None = None  # instead of the true one

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def student(self, user: int, name: str, submitted_at: str | None = None, **files: bytes) -> None:
        """A student, with the files of a submission."""
        attachments = []
        for number, (file, data) in enumerate(files.items()):
            place = f"/files/{user * 10 + number}/download"
            self.files[place] = data
            shown = file.replace("__", ".")
            attachments.append(
                {
                    "id": user * 10 + number,
                    "display_name": shown,
                    "filename": shown,
                    "url": self.url + place,
                    "size": len(data),
                }
            )
        self.submissions.append({
            "id": user + 5000, "user_id": user, "assignment_id": ASSIGNMENT, "score": None, "late": False,
            "submitted_at": submitted_at, "attachments": attachments, "submission_comments": [],
            "user": {"id": user, "name": name, "sortable_name": name},
        })  # fmt: skip

    def received(self) -> dict[str, tuple[str | None, dict[str, bytes]]]:
        """User -> grade and files."""
        return {
            user: (
                dict(fields).get("submission[posted_grade]"),
                {name: data for key, value in fields if key == "comment[file_ids][]"
                 for name, data in [self.uploads[int(value)]]},
            )
            for user, fields in self.puts
        }  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    server: CanvasStandIn

    def log_message(self, *args: object) -> None:
        pass

    def _answer(self, said: object, code: int = 200, **headers: str) -> None:
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _allowed(self) -> bool:
        said = self.headers.get("Authorization", "")
        self.server.tokens.append((self.path, said.removeprefix("Bearer ")))
        if said == f"Bearer {TOKEN}":
            return True
        self._answer({"errors": [{"message": f"Invalid access token: {said}"}]}, 401, **{"WWW-Authenticate": "Bearer"})
        return False

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_GET(self) -> None:
        place, _, query = self.path.partition("?")
        if not self._allowed():
            return
        below = f"/api/v1/courses/{COURSE}/assignments/{ASSIGNMENT}"
        if place == f"/api/v1/courses/{COURSE}":
            self._answer({"id": COURSE, "name": "Transformers"})
        elif place == below:
            self._answer({"id": ASSIGNMENT, "course_id": COURSE, "points_possible": self.server.points})
        elif place == f"{below}/submissions":
            page = int(dict(parse_qsl(query)).get("page", 1))
            begin = (page - 1) * PER_PAGE
            shown = self.server.submissions[begin : begin + PER_PAGE]
            more = begin + PER_PAGE < len(self.server.submissions)
            true = f"{self.server.url}{place}?page={page + 1}&{query}" if more else None
            following = self.server.next_page or true
            self._answer(shown, **({"Link": f'<{following}>; rel="next"'} if following else {}))
        elif place in self.server.files:
            self.server.loaded.append(place)
            self._answer(self.server.files[place])
        else:
            self._answer({"errors": [{"message": "not found"}]}, 404)

    def do_POST(self) -> None:
        body, place = self._body(), urlsplit(self.path).path
        if place == "/upload":  # Canvas's store of files: it needs no token and must not see one
            self.server.tokens.append((place, self.headers.get("Authorization", "")))
            kind = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            message = email.message_from_bytes(kind + body, policy=email.policy.HTTP)
            (file,) = [part for part in message.iter_parts() if part.get_filename()]
            number = 40_000 + len(self.server.uploads)
            self.server.uploads[number] = str(file.get_filename()), file.get_payload(decode=True)
            self._answer({"id": number, "upload_status": "success", "url": f"{self.server.url}/files/{number}"}, 201)
        elif self._allowed():
            assert re.fullmatch(
                rf"/api/v1/courses/{COURSE}/assignments/{ASSIGNMENT}/submissions/\d+/comments/files", place
            )
            self._answer({"upload_url": f"{self.server.url}/upload", "upload_params": {"key": "k"}})

    def do_PUT(self) -> None:
        body, user = self._body().decode(), self.path.rsplit("/", 1)[-1]
        if not self._allowed():
            return
        if user in self.server.refused:
            self._answer({"errors": [{"message": "down"}]}, 500)
            return
        fields = parse_qsl(body)
        self.server.puts.append((user, fields))
        (found,) = [one for one in self.server.submissions if str(one["user_id"]) == user]
        for key, value in fields:
            if key == "submission[posted_grade]":
                found["score"] = float(value)
            elif key == "comment[file_ids][]":
                name = self.server.uploads[int(value)][0]
                found["submission_comments"].append({"attachments": [{"id": int(value), "display_name": name}]})
        self._answer(found)

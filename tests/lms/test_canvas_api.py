"""``collect --from canvas``, ``export --push``: what a stand-in of Canvas's API gives and receives.

Addresses and fields are those of https://canvas.instructure.com/doc/api/ (Submissions, Submission Comments, Uploading
Files). What it was sent is kept, to be compared.
"""

import contextlib
import email
import email.policy
import json
import logging
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from autograder.cli import main
from autograder.gradebook.late.times import read_times
from autograder.lms.transfer import TOKEN as VARIABLE
from autograder.model.course import Course
from tests.exports.conftest import cells, rename
from tests.feedback.toy import ROOT, hand_in
from tests.lms.conftest import CLASS, came_from

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
            shown = dict.fromkeys(("display_name", "filename"), file.replace("__", "."))
            attachments.append({"id": user * 10 + number, "url": self.url + place, "size": len(data), **shown})
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


pytestmark = pytest.mark.slow


pytest.importorskip("canvasapi", reason="the extra 'canvas' is not installed: pip install canvasapi")


NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


@pytest.fixture
def canvas(course, monkeypatch):
    """A server with the class, and the course's settings that lead there."""
    server = CanvasStandIn()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    for number, student in enumerate(CLASS, start=101):
        server.student(number, f"{student}, X", "2026-11-20T08:00:00Z", **{"1_sums__ipynb": student.encode()})
    monkeypatch.setenv(VARIABLE, TOKEN)
    with (course.root / "course.toml").open("a") as file:
        file.write(f'\n[canvas]\nurl = "{server.url}"\ncourse = {COURSE}\nassignments = {{ toy = {ASSIGNMENT} }}\n')
    yield server
    server.shutdown()
    server.server_close()


WAYS = {"pull": ("collect", ["--from", "canvas"]), "push": ("export", ["--to", "canvas", "--push"])}


def say(course, direction, assignment, *words):
    command, options = WAYS[direction]
    return main(["--course-dir", str(course.root), command, assignment, *options, *words])


@pytest.fixture
def names(tmp_path):
    """Whose number is whose, for ``--names``."""
    path = tmp_path / "names.csv"
    path.write_text("id,student\n" + "".join(f"{number},{name}\n" for number, name in enumerate(CLASS, start=101)))
    return ["--names", str(path)]


@pytest.fixture
def push(course, canvas):
    """Send the grades of a class that came from there."""
    came_from(course, "canvas")
    return lambda *words: say(course, "push", "toy", *words)


def pages(course, student):
    return [path.read_bytes() for path in sorted((course.root / "feedback" / student / "toy").glob("*.html"))]


def test_canvas_receives_exactly_the_grades_and_the_pages(course, canvas, push):
    assert push("--yes") == 0
    received = canvas.received()
    assert {user: grade for user, (grade, _) in received.items()} == {"101": "5", "102": "2", "103": "3.5"}
    for number, student in enumerate(CLASS, start=101):
        assert list(received[str(number)][1].values()) == pages(course, student)
    assert len(canvas.puts) == len(canvas.uploads) == 3


def test_a_grade_whose_submission_is_gone_is_spoken_of_before_it_is_sent(course, canvas, push, capsys):
    assert push() == 2
    assert "is gone since" not in capsys.readouterr().err  # nobody's submission is there: they lie elsewhere
    course.submitted("bob", "toy").mkdir(parents=True)
    assert push() == 2
    assert "(ada, o_neill): graded, and the submission is gone since" in capsys.readouterr().err


def test_what_is_there_is_not_sent_again_and_what_changed_is(course, canvas, push):
    assert push("--yes") == 0
    canvas.puts.clear()
    assert push("--yes") == 0
    assert canvas.puts == []
    hand_in(Course(course.root), "ada", cells=cells(1.0, 2.0))
    assert push("--yes") == 0
    ((user, fields),) = canvas.puts
    assert user == "101" and dict(fields)["submission[posted_grade]"] == "3"
    assert canvas.received()["101"][1].popitem()[1] == pages(course, "ada")[0]


def test_nothing_is_sent_without_a_yes(course, canvas, push, capsys):
    assert push() == 2
    said = capsys.readouterr().out
    assert "3.5" in said and "--yes" in said
    assert canvas.puts == [] and canvas.uploads == {}


def test_who_waits_or_is_not_known_gets_nothing(course, canvas, push, capsys):
    hand_in(course, "ada", cells=cells(3.0))  # the written answer waits
    path = course.root / ".autograder" / "origins" / "toy.json"
    path.write_text(path.read_text().replace('"102"', '"999"'))
    assert push("--yes") == 1
    assert set(canvas.received()) == {"103"}
    said = " ".join(capsys.readouterr().out.split())
    assert "left out: ada: no score yet (waiting)" in said and "left out: bob: Canvas's number" in said


def test_two_students_with_one_number_get_nothing(course, canvas):
    for student in ("ada", "bob"):
        rename(course, student, student, "", lms="101")
    assert say(course, "push", "toy", "--yes") == 1
    assert canvas.puts == []


def test_the_assignment_in_canvas_must_have_its_points(course, canvas, push, capsys):
    canvas.points = 100.0
    assert push("--yes") == 2
    assert "toy has 5 points, and 100 in Canvas" in capsys.readouterr().err
    assert canvas.puts == []


def test_a_failure_for_one_student_stops_nobody_else_and_is_made_good_by_the_same_command(course, canvas, push, capsys):
    canvas.refused = {"101"}
    assert push("--yes") == 1
    assert set(canvas.received()) == {"102", "103"}
    assert "ada: Canvas at" in capsys.readouterr().err
    canvas.refused = set()
    assert push("--yes") == 0
    assert set(canvas.received()) == {"101", "102", "103"}


def handed_in(course):
    return {path.parent.parent.name: path.read_bytes() for path in course.root.glob("submitted/*/toy/*.ipynb")}


def test_submissions_come_with_canvass_own_times(course, canvas, names):
    canvas.student(104, "Nobody, N")
    assert say(course, "pull", "toy", *names, "--yes") == 0
    assert handed_in(course) == {"ada": b"ada", "bob": b"bob", "o_neill": b"o_neill"}
    assert {when.isoformat() for when in read_times(course.root, "toy").values()} == {"2026-11-20T08:00:00+00:00"}


def test_pulled_submissions_know_the_way_back(course, canvas, names):
    assert say(course, "pull", "toy", *names, "--yes") == 0
    assert say(course, "push", "toy", "--yes") == 0
    assert {user: grade for user, (grade, _) in canvas.received().items()} == {"101": "5", "102": "2", "103": "3.5"}


def test_nothing_is_pulled_without_a_yes(course, canvas, names):
    before = sorted(course.root.glob("submitted/*"))
    assert say(course, "pull", "toy", *names) == 2
    assert sorted(course.root.glob("submitted/*")) == before
    assert read_times(course.root, "toy") == {}


def test_the_token_goes_to_canvas_alone(course, canvas, names, capsys):
    other = CanvasStandIn()
    threading.Thread(target=other.serve_forever, args=(0.02,), daemon=True).start()
    with contextlib.closing(other.socket):
        other.files["/elsewhere"] = NOTEBOOK
        canvas.submissions[0]["attachments"][0]["url"] = f"{other.url}/elsewhere"
        assert say(course, "pull", "toy", *names, "--yes") == 1  # the other server wants a token, and is not told it
        other.shutdown()
    assert "left out: ada" in capsys.readouterr().out and set(handed_in(course)) == {"bob", "o_neill"}
    assert other.tokens == [("/elsewhere", "")]
    came_from(course, "canvas")
    assert say(course, "push", "toy", "--yes") == 0
    assert {token for place, token in canvas.tokens if place == "/upload"} == {""}


def test_the_token_is_in_no_log_no_message_and_no_file(course, canvas, push, capsys, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    assert push("--yes", "--debug") == 0
    wrong = TOKEN + "x"
    monkeypatch.setenv(VARIABLE, wrong)
    assert push("--yes", "--debug") == 2  # the server repeats the token in its answer
    said = capsys.readouterr()
    assert "InvalidAccessToken" in said.err
    for text in (said.out, said.err, caplog.text):
        assert TOKEN not in text and TOKEN[-8:] not in text
    for path in course.root.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()


@pytest.mark.parametrize("token", ["", " ", "two words", "line\nbreak"])
def test_without_a_token_one_line_says_where_to_set_it(course, canvas, capsys, monkeypatch, token):
    monkeypatch.setenv(VARIABLE, token)
    assert say(course, "pull", "toy", "--yes") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert VARIABLE in line and canvas.tokens == []


@pytest.mark.parametrize(
    ("lines", "words", "said"),
    [
        ("", ["collect", "toy", "--from", "canvas"], "[canvas]"),
        *(
            (f"[canvas]\n{line}", ["collect", "toy", "--from", "canvas"], "expected")
            for line in (
                'url = "http://canvas.example.edu"', 'url = "https://a/b?c"', "course = 0",
                'assignments = { toy = "7" }',
            )
        ),
        ("", ["export", "toy", "--to", "moodle", "--push"], "--push"),
        ("", ["export", "toy", "--to", "canvas", "--push", "--out", "x"], "--out"),
        ("", ["export", "toy", "--to", "canvas", "--yes"], "--yes"),
    ],
)  # fmt: skip
def test_a_wrong_setting_and_options_that_do_not_go_together_are_one_line(course, capsys, lines, words, said):
    with (course.root / "course.toml").open("a") as file:
        file.write(f"\n{lines}\n")
    assert main(["--course-dir", str(course.root), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line and ("course.toml" in line or not lines)


def test_without_the_extra_the_command_says_what_to_install(course, canvas, tmp_path):
    (tmp_path / "canvasapi.py").write_text("raise ImportError('no')")
    code = "import sys; from autograder.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["--course-dir", str(course.root), "collect", "toy", "--from", "canvas"]
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    done = subprocess.run([sys.executable, "-c", path + code, *words], capture_output=True, text=True)
    assert done.returncode == 2 and "[canvas]" in done.stderr


def test_the_guides_commands_run_as_written(course, canvas, monkeypatch):
    """With the small assignment in place of the guide's."""
    text = (ROOT / "docs" / "lms.md").read_text(encoding="utf-8")
    names = "".join(f"{number},{name}\n" for number, name in enumerate(CLASS, start=101))
    (course.root / "students.csv").write_text(f"id,student\n{names}")
    monkeypatch.chdir(course.root)
    typed = [line.split() for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert len(typed) == 2
    for words in typed:
        assert main([word.replace("distilbert", "toy") for word in words[1:]]) == 0
    assert len(canvas.puts) == 3


def test_one_file_that_fails_costs_one_file_and_unwanted_ones_are_not_loaded(course, canvas, names, capsys):
    """102's file is gone (404), 103 sends a film and, beside the notebook, one that Canvas says is too large."""
    canvas.files.pop("/files/1020/download")
    extra = [("film.mp4", 10), ("2_more.ipynb", 1 << 40)]
    for number, (name, size) in enumerate(extra, start=1):
        place = f"/files/103{number}/download"
        canvas.files[place] = b"x"
        canvas.submissions[2]["attachments"].append(
            {"id": 1030 + number, "display_name": name, "filename": name, "url": canvas.url + place, "size": size}
        )
    assert say(course, "pull", "toy", *names, "--yes") == 1
    assert handed_in(course) == {"ada": b"ada", "o_neill": b"o_neill"}
    assert canvas.loaded == ["/files/1010/download", "/files/1030/download"]
    said = " ".join(capsys.readouterr().out.split())
    for words in ("left out: bob: #1020 1_sums.ipynb was refused: Canvas", "2_more.ipynb was refused: it is larger"):
        assert words in said
    assert "film.mp4 is not asked for" in said and "bob: nothing that the assignment asks for" in said


@pytest.mark.parametrize("following", ["itself", "https://elsewhere.example/next"])
def test_pages_without_an_end_or_elsewhere_stop(course, canvas, names, capsys, following):
    canvas.next_page = f"{canvas.url}/api/v1/courses/{COURSE}/assignments/{ASSIGNMENT}/submissions?page=1"
    if following != "itself":
        canvas.next_page = following
    assert say(course, "pull", "toy", *names, "--yes") == 2
    assert "without an end" in (said := capsys.readouterr().err) or "another server" in said


def test_from_the_api_a_files_name_says_nothing_of_its_owner(course, canvas, names):
    canvas.submissions[1]["attachments"][0]["display_name"] = "x_101_9_1_sums.ipynb"
    canvas.submissions[1]["user"]["sortable_name"] = "ada, X_101_9_"
    canvas.submissions[2]["attachments"][0]["display_name"] = "../../../1_sums.ipynb"
    assert say(course, "pull", "toy", *names, "--yes") == 0
    assert handed_in(course) == {"ada": b"ada", "bob": b"bob", "o_neill": b"o_neill"}
    assert (course.submitted("bob", "toy") / "x_101_9_1_sums.ipynb").is_file()


def test_the_api_finds_a_student_by_login(course, canvas, capsys):
    for one, login in zip(canvas.submissions, CLASS, strict=True):
        one["user"]["login_id"] = f"{login}@uni.example"
    assert say(course, "pull", "toy", "--yes") == 0
    assert set(handed_in(course)) == set(CLASS)


def test_who_could_be_somebody_on_the_roster_is_not_given_another_name(course, canvas, capsys):
    assert say(course, "pull", "toy", "--yes") == 2
    assert "nobody on the roster has Canvas's number 101" in capsys.readouterr().err

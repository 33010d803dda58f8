"""``collect --from canvas``, ``export --push``: what a stand-in of Canvas's API gives and receives."""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
import subprocess
import sys
import threading

import pytest

from autograder.cli import main
from autograder.gradebook.late.times import read_times
from autograder.lms.api import TOKEN as VARIABLE
from autograder.model.course import Course
from tests.exports.conftest import cells, rename
from tests.feedback.toy import ROOT, hand_in
from tests.lms.canvas_stand_in import ASSIGNMENT, COURSE, TOKEN, CanvasStandIn
from tests.lms.conftest import CLASS, came_from

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


def pages(course, student):
    return [path.read_bytes() for path in sorted((course.root / "feedback" / student / "toy").glob("*.html"))]


def test_canvas_receives_exactly_the_grades_and_the_pages(course, canvas):
    came_from(course, "canvas")
    assert say(course, "push", "toy", "--yes") == 0
    received = canvas.received()
    assert {user: grade for user, (grade, _) in received.items()} == {"101": "5", "102": "2", "103": "3.5"}
    for number, student in enumerate(CLASS, start=101):
        assert list(received[str(number)][1].values()) == pages(course, student)
    assert len(canvas.puts) == len(canvas.uploads) == 3


def test_a_grade_whose_submission_is_gone_is_spoken_of_before_it_is_sent(course, canvas, capsys):
    came_from(course, "canvas")
    assert say(course, "push", "toy") == 2
    assert "is gone since" not in capsys.readouterr().err  # nobody's submission is there: they lie elsewhere
    course.submitted("bob", "toy").mkdir(parents=True)
    assert say(course, "push", "toy") == 2
    assert "(ada, o_neill): graded, and the submission is gone since" in capsys.readouterr().err


def test_what_is_there_is_not_sent_again_and_what_changed_is(course, canvas):
    came_from(course, "canvas")
    assert say(course, "push", "toy", "--yes") == 0
    canvas.puts.clear()
    assert say(course, "push", "toy", "--yes") == 0
    assert canvas.puts == []
    hand_in(Course(course.root), "ada", cells=cells(1.0, 2.0))
    assert say(course, "push", "toy", "--yes") == 0
    ((user, fields),) = canvas.puts
    assert user == "101" and dict(fields)["submission[posted_grade]"] == "3"
    assert canvas.received()["101"][1].popitem()[1] == pages(course, "ada")[0]


def test_nothing_is_sent_without_a_yes(course, canvas, capsys):
    came_from(course, "canvas")
    assert say(course, "push", "toy") == 2
    said = capsys.readouterr().out
    assert "3.5" in said and "--yes" in said
    assert canvas.puts == [] and canvas.uploads == {}


def test_who_waits_or_is_not_known_gets_nothing(course, canvas, capsys):
    came_from(course, "canvas")
    hand_in(course, "ada", cells=cells(3.0))  # the written answer waits
    path = course.root / ".autograder" / "origins" / "toy.json"
    path.write_text(path.read_text().replace('"102"', '"999"'))
    assert say(course, "push", "toy", "--yes") == 1
    assert set(canvas.received()) == {"103"}
    said = " ".join(capsys.readouterr().out.split())
    assert "left out: ada: no score yet (waiting)" in said and "left out: bob: Canvas's number" in said


def test_two_students_with_one_number_get_nothing(course, canvas):
    for student in ("ada", "bob"):
        rename(course, student, student, "", lms="101")
    assert say(course, "push", "toy", "--yes") == 1
    assert canvas.puts == []


def test_the_assignment_in_canvas_must_have_its_points(course, canvas, capsys):
    came_from(course, "canvas")
    canvas.points = 100.0
    assert say(course, "push", "toy", "--yes") == 2
    assert "toy has 5 points, and 100 in Canvas" in capsys.readouterr().err
    assert canvas.puts == []


def test_a_failure_for_one_student_stops_nobody_else_and_is_made_good_by_the_same_command(course, canvas, capsys):
    came_from(course, "canvas")
    canvas.refused = {"101"}
    assert say(course, "push", "toy", "--yes") == 1
    assert set(canvas.received()) == {"102", "103"}
    assert "ada: Canvas at" in capsys.readouterr().err
    canvas.refused = set()
    assert say(course, "push", "toy", "--yes") == 0
    assert set(canvas.received()) == {"101", "102", "103"}


def handed_in(course):
    return {path.parent.parent.name: path.read_bytes() for path in course.root.glob("submitted/*/toy/*.ipynb")}


def test_submissions_come_with_canvass_own_times(course, canvas, names):
    shutil.rmtree(course.root / "submitted", ignore_errors=True)
    canvas.student(104, "Nobody, N")
    assert say(course, "pull", "toy", *names, "--yes") == 0
    assert handed_in(course) == {"ada": b"ada", "bob": b"bob", "o_neill": b"o_neill"}
    assert {when.isoformat() for when in read_times(course.root, "toy").values()} == {"2026-11-20T08:00:00+00:00"}


def test_pulled_submissions_know_the_way_back(course, canvas, names):
    shutil.rmtree(course.root / "submitted", ignore_errors=True)
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


def test_the_token_is_in_no_log_no_message_and_no_file(course, canvas, capsys, caplog, monkeypatch):
    came_from(course, "canvas")
    caplog.set_level(logging.DEBUG)
    assert say(course, "push", "toy", "--yes", "--debug") == 0
    wrong = TOKEN + "x"
    monkeypatch.setenv(VARIABLE, wrong)
    assert say(course, "push", "toy", "--yes", "--debug") == 2  # the server repeats the token in its answer
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


def test_a_course_that_is_not_in_canvas_is_said(course, capsys):
    assert say(course, "pull", "toy") == 2
    assert "[canvas]" in capsys.readouterr().err


@pytest.mark.parametrize(
    "lines", ['url = "http://canvas.example.edu"', 'url = "https://a/b?c"', "course = 0", 'assignments = { toy = "7" }']
)
def test_a_wrong_setting_is_one_line(course, capsys, lines):
    with (course.root / "course.toml").open("a") as file:
        file.write(f"\n[canvas]\n{lines}\n")
    assert say(course, "pull", "toy") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "course.toml" in line and "expected" in line


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
    shutil.rmtree(course.root / "submitted", ignore_errors=True)
    monkeypatch.chdir(course.root)
    typed = [line.split() for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert len(typed) == 2
    for words in typed:
        assert main([word.replace("distilbert", "toy") for word in words[1:]]) == 0
    assert len(canvas.puts) == 3


def test_d6_one_file_that_fails_costs_one_file_and_unwanted_ones_are_not_loaded(course, canvas, names, capsys):
    """102's file is gone (404), 103 sends a film and, beside the notebook, one that Canvas says is too large."""
    shutil.rmtree(course.root / "submitted", ignore_errors=True)
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
def test_d6_pages_without_an_end_or_elsewhere_stop(course, canvas, names, capsys, following):
    canvas.next_page = f"{canvas.url}/api/v1/courses/{COURSE}/assignments/{ASSIGNMENT}/submissions?page=1"
    if following != "itself":
        canvas.next_page = following
    assert say(course, "pull", "toy", *names, "--yes") == 2
    assert "without an end" in (said := capsys.readouterr().err) or "another server" in said


def test_d1_from_the_api_a_files_name_says_nothing_of_its_owner(course, canvas, names):
    shutil.rmtree(course.root / "submitted", ignore_errors=True)
    canvas.submissions[1]["attachments"][0]["display_name"] = "x_101_9_1_sums.ipynb"
    canvas.submissions[1]["user"]["sortable_name"] = "ada, X_101_9_"
    canvas.submissions[2]["attachments"][0]["display_name"] = "../../../1_sums.ipynb"
    assert say(course, "pull", "toy", *names, "--yes") == 0
    assert handed_in(course) == {"ada": b"ada", "bob": b"bob", "o_neill": b"o_neill"}
    assert (course.submitted("bob", "toy") / "x_101_9_1_sums.ipynb").is_file()


def test_d2_the_api_finds_a_student_by_login(course, canvas, capsys):
    shutil.rmtree(course.root / "submitted", ignore_errors=True)
    for one, login in zip(canvas.submissions, CLASS, strict=True):
        one["user"]["login_id"] = f"{login}@uni.example"
    assert say(course, "pull", "toy", "--yes") == 0
    assert set(handed_in(course)) == set(CLASS)


def test_d2_who_could_be_somebody_on_the_roster_is_not_given_another_name(course, canvas, capsys):
    shutil.rmtree(course.root / "submitted", ignore_errors=True)
    assert say(course, "pull", "toy", "--yes") == 2
    assert "nobody on the roster has Canvas's number 101" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--to", "moodle", "--push"], ["--to", "canvas", "--push", "--out", "x"], ["--to", "canvas", "--yes"]]
)
def test_options_of_push_that_do_not_go_together_are_one_line(course, capsys, words):
    assert main(["--course-dir", str(course.root), "export", "toy", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1

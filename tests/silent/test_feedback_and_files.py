"""Feedback without the grader's folders, results of two versions, and a disk that says no."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.feedback.strip import shortened
from autograder.feedback.words import exercise_titles
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from tests.exports.conftest import cells
from tests.feedback.toy import NOTEBOOK, build_course, hand_in, marks

V4 = nbformat.v4


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Course:
    return build_course(tmp_path_factory.mktemp("files") / "course")


@pytest.fixture
def course(released, tmp_path) -> Course:
    course = Course(shutil.copytree(released.root, tmp_path / "course"))
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    return course


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("File /home/prof/term/course/check/sums.py:12, in f", "File course/check/sums.py:12, in f"),
        ("\x1b[32m/opt/venv/lib/python3.11/site-packages/torch/nn/m.py:7\x1b[39m", "\x1b[32mtorch/nn/m.py:7\x1b[39m"),
        ("/tmp/ipykernel_12/345.py:3: RuntimeWarning: overflow", "your notebook:3: RuntimeWarning: overflow"),
        ('File "/tmp/scratch-1/work/models.py", line 3', 'File "models.py", line 3'),
        ("/usr/lib/python3.11/json/decoder.py", "json/decoder.py"),
        (f"{Path(shutil.__file__).parents[2]}/lib/none.py:1", "none.py:1"),
        ("a/b.py, https://example.org/a/b.py and 1/2 stay", "a/b.py, https://example.org/a/b.py and 1/2 stay"),
    ],
)
def test_a_traceback_names_files_as_a_student_knows_them(path, name):
    assert shortened(path, "course") == name


def test_no_folder_is_shown_either_where_students_import_no_library():
    assert shortened("/srv/term/models.py:3: RuntimeWarning: overflow", "") == "models.py:3: RuntimeWarning: overflow"


def test_the_feedback_page_shows_no_folder_of_the_grader(course):
    trace = ["\x1b[36mFile\x1b[39m \x1b[32m/home/prof/term/course/check/sums.py:12\x1b[39m, in f", "Oops: /srv/x/y.py"]
    outputs = (
        V4.new_output("error", ename="Oops", evalue="/srv/x/y.py", traceback=trace),
        V4.new_output("stream", name="stderr", text="/tmp/ipykernel_1/2.py:3: RuntimeWarning: overflow\n"),
    )
    hand_in(course, "eve", outputs=outputs, cells=cells(3.0, 2.0))
    assert cli.main(["--course", str(course.root), "feedback", "toy"]) == 0
    page = (course.feedback("eve", "toy") / f"{NOTEBOOK}.html").read_text(encoding="utf-8")
    assert "course/check/sums.py:12" in page and "your notebook:3" in page
    assert "/home/prof" not in page and "/srv/" not in page and "/tmp/" not in page


def test_an_exercise_is_called_what_its_heading_says():
    graded = {"grade": True, "solution": False, "points": 1}
    notebook = V4.new_notebook(
        cells=[
            V4.new_markdown_cell("# All of it\n\n## Exercise 1 · `softmax` (2 points)"),
            V4.new_markdown_cell("# Mine", id="extra-start-0"),
            V4.new_code_cell("", metadata=marks("one", **graded)),
            V4.new_markdown_cell("## Exercise 2"),
            V4.new_code_cell("", metadata=marks("first_half", **graded)),
            V4.new_markdown_cell("# A student's own", metadata=marks("text", grade=True, solution=True, points=1)),
        ]
    )
    assert exercise_titles(notebook) == {
        "one": "Exercise 1 · softmax",
        "first_half": "Exercise 2 · First half",
        "text": "Exercise 2 · Text",
    }


def four_points(course: Course) -> None:
    """The exercise has 4 points now, as after another release; ada was graded when it had 3."""
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_graded_cell("row_sums", NOTEBOOK, "toy").max_score = 4.0
        gradebook.db.commit()


@pytest.mark.parametrize("words", [("export", "toy", "--to", "csv"), ("report", "toy"), ("feedback", "toy")])
def test_results_of_two_versions_are_never_put_side_by_side(course, capsys, words):
    four_points(course)
    hand_in(course, "bob", cells=(CellVerdict("row_sums", "passed", 4.0, 4.0), cells(3.0, 2.0)[1]))
    assert cli.main(["--course", str(course.root), *words]) == 2
    said = capsys.readouterr().err
    assert "row_sums of 1_sums has 4 points, and had 3 when ada was graded" in said
    assert "run 'autograder grade toy'" in said and len(said.splitlines()) == 1
    hand_in(course, "ada", cells=(CellVerdict("row_sums", "passed", 4.0, 4.0), cells(3.0, 2.0)[1]))
    assert cli.main(["--course", str(course.root), *words]) == 0


def test_without_a_gradebook_two_versions_are_told_apart_too(course, capsys):
    hand_in(course, "bob", cells=(CellVerdict("row_sums", "passed", 4.0, 4.0), cells(3.0, 2.0)[1]))
    (course.root / "gradebook.db").unlink()
    assert cli.main(["--course", str(course.root), "export", "toy", "--to", "csv"]) == 2
    assert "the points of toy have changed: row_sums of 1_sums" in capsys.readouterr().err


def test_an_exercise_that_was_renamed_is_another_version(course, capsys):
    path = course.autograded("ada", "toy") / "verdicts.json"
    said = json.loads(path.read_text())
    said["notebooks"][0]["cells"][0]["cell"] = "sums_of_rows"
    path.write_text(json.dumps(said))
    assert verdicts.read(path).notebooks[0].cells[0].cell == "sums_of_rows"
    assert cli.main(["--course", str(course.root), "export", "toy", "--to", "csv"]) == 2
    assert "row_sums of 1_sums is new since ada was graded" in capsys.readouterr().err


def refuse(monkeypatch, below: Path) -> None:
    """A disk that takes nothing below a folder. Rights would not do: they do not stop root, who may run this."""
    real = {name: getattr(os, name) for name in ("mkdir", "open", "replace")}

    def no(name):
        def call(path, *words, **more):
            writes = name != "open" or (words and words[0] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            if writes and str(path).startswith(str(below)):
                raise OSError(28, "No space left on device", str(path))
            return real[name](path, *words, **more)

        return call

    for name in real:
        monkeypatch.setattr(os, name, no(name))
    plain = Path.write_bytes

    def write_bytes(self: Path, data: bytes) -> int:
        return no("replace")(self, self) if below in self.parents else plain(self, data)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        (("feedback", "toy"), "feedback"),
        (("report", "toy"), "reports"),
        (("export", "toy", "--to", "json"), "exports"),
    ],
)
def test_a_disk_that_says_no_is_one_line_and_what_was_there_stays(course, capsys, monkeypatch, words, folder):
    assert cli.main(["--course", str(course.root), *words]) == 0
    before = {path: path.read_bytes() for path in (course.root / folder).rglob("*") if path.is_file()}
    capsys.readouterr()
    with monkeypatch.context() as patched:
        refuse(patched, course.root / folder)
        code = cli.main(["--course", str(course.root), *words])
    said = capsys.readouterr().err
    assert code == 2
    assert "cannot be written: No space left on device" in said
    assert {path: path.read_bytes() for path in (course.root / folder).rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("toy", ("--until", "tomorrow")),
        ("toy", ("--fail-under", "ten")),
        ("toy", ("--fail-under", "nan")),
        ("toy", ("--visible-only", "--fail-under", "3")),
        ("toys", ()),
    ],
)
def test_a_failed_argument_of_ci_leaves_no_results_of_an_earlier_run(course, tmp_path, assignment, words):
    out, handed_in = tmp_path / "out", tmp_path / "handed_in"
    out.mkdir()
    handed_in.mkdir()
    (out / "results.json").write_text('{"score": 50}')
    place = ["--course", str(course.root), "ci", assignment, str(handed_in), "--out", str(out)]
    assert cli.main([*place, *words]) == 2
    assert not (out / "results.json").exists()


def test_a_course_that_is_not_there_leaves_no_results_of_an_earlier_run(tmp_path):
    (tmp_path / "results.json").write_text('{"score": 50}')
    words = ["ci", "toy", str(tmp_path), "--out", str(tmp_path)]
    assert cli.main(["--course", str(tmp_path / "nowhere"), *words]) == 2
    assert not (tmp_path / "results.json").exists()

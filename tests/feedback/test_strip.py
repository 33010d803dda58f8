"""Feedback names files and exercises as a student knows them."""

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder import cli
from autograder.feedback.strip import shortened
from autograder.feedback.words import exercise_titles
from autograder.model.course import Course
from tests.exports.conftest import cells
from tests.feedback.toy import NOTEBOOK, build_course, hand_in, marks

V4 = nbformat.v4


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return build_course(tmp_path / "course")


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

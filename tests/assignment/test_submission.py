"""Why a notebook was not taken is said where its points are missing: on the screen, in the JSON and on the page."""

import json
import shutil
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.errors import NothingToGrade
from autograder.model.course import Course
from tests.fork_servers import fork_servers_are_kept  # noqa: F401
from tests.grading import ROOT
from tests.small_class import RIGHT, SHEET, grade, run, small_class

pytestmark = pytest.mark.slow


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return small_class(tmp_path / "course")


def two_downloads(course: Course) -> None:
    folder = course.submitted("ada", SHEET)
    first = folder / "1_mean.ipynb"
    (folder / "1_mean (2).ipynb").write_text(first.read_text().replace(RIGHT, "return 1.5"))
    first.rename(folder / "1_mean (1).ipynb")


def in_a_folder(course: Course) -> None:
    folder = course.submitted("ada", SHEET)
    (folder / "hw").mkdir()
    (folder / "1_mean.ipynb").rename(folder / "hw" / "1_mean.ipynb")


NONE = "1_mean (1).ipynb and 1_mean (2).ipynb could each be 1_mean.ipynb, and differ: none was taken"
DEEPER = "1_mean.ipynb was found in hw/, where nothing is graded: move it up"


def ada(course: Course, capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, object]:
    capsys.readouterr()
    assert grade(course, "--json") == code
    return next(one for one in json.loads(capsys.readouterr().out)["students"] if one["student"] == "ada")


@pytest.mark.parametrize(("do", "said"), [(two_downloads, NONE), (in_a_folder, DEEPER)])
def test_why_none_was_taken_is_said_in_table_json_and_feedback(
    course: Course, capsys: pytest.CaptureFixture[str], do, said: str
) -> None:
    do(course)
    row = ada(course, capsys, 1)
    assert row["could_not_be_graded"] == ["1_mean"] and row["notebooks"]["1_mean"] is None
    assert row["not_handed_in"] == [] and "mean" in row["waiting"]
    assert len(row["notes"]) == 1 and said in row["notes"][0]
    assert grade(course) == 1
    table = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert said.split(" could")[0].split(" was")[0] in table and "notes)" not in table
    assert run(course, "feedback", SHEET) == 0
    page = (course.root / "feedback" / "ada" / SHEET / "1_mean.html").read_text()
    assert said in page and "Put right before grading" not in page
    assert ("1_mean.ipynb was not handed in" in page) == (said == DEEPER)


def test_what_nobody_handed_in_needs_no_note(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    (course.submitted("ada", SHEET) / "1_mean.ipynb").unlink()
    row = ada(course, capsys)
    assert row["not_handed_in"] == ["1_mean"] and row["notes"] == []


def test_downloads_that_come_after_grading_are_spoken_of(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    folder = course.submitted("ada", SHEET)
    (folder / "1_mean.ipynb").rename(course.root / "1_mean.ipynb")
    assert grade(course) == 0
    shutil.copy(course.root / "1_mean.ipynb", folder)
    two_downloads(course)
    assert NONE in ada(course, capsys, 1)["notes"][0]


def test_a_second_notebook_beside_the_one_that_was_taken_is_spoken_of(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = course.submitted("ada", SHEET)
    text = (folder / "1_mean.ipynb").read_text()
    (folder / "1_mean (1).ipynb").write_text(text.replace(RIGHT, "return 1.5"))
    (folder / "1_mean (2).ipynb").write_text(text)
    row = ada(course, capsys)
    assert row["notebooks"]["1_mean"] == 3
    assert row["notes"] == ["1_mean.ipynb was taken; 1_mean (1).ipynb carries its marks too, and differs: left out"]
    assert run(course, "feedback", SHEET) == 0
    assert row["notes"][0] in (course.root / "feedback" / "ada" / SHEET / "1_mean.html").read_text()


LARGE = "numpy_attention"
HINT = "1_attention.ipynb was found in homework/final/, where nothing is graded: move it up"


@pytest.fixture(scope="module")
def assignment():
    return Assignment.open(ROOT, LARGE)


def test_where_one_of_several_notebooks_lies_is_said(assignment, tmp_path):
    shutil.copytree(ROOT / "release" / LARGE, tmp_path / "ada")
    (tmp_path / "ada" / "homework" / "final").mkdir(parents=True)
    (tmp_path / "ada" / "1_attention.ipynb").rename(tmp_path / "ada" / "homework" / "final" / "1_attention.ipynb")
    submission = read_submission(tmp_path / "ada", "ada", assignment)
    assert "1_attention" not in submission.notebooks and HINT in submission.notes


def test_where_everything_lies_is_said(assignment, tmp_path):
    shutil.copytree(ROOT / "release" / LARGE, tmp_path / "ada" / "homework" / "final")
    with pytest.raises(NothingToGrade, match="was found in homework/final/"):
        read_submission(tmp_path / "ada", "ada", assignment)


def test_a_deep_or_wide_tree_is_not_searched(assignment, tmp_path):
    deep = tmp_path / "ada" / "/".join("abcdefgh")
    deep.mkdir(parents=True)
    shutil.copy(ROOT / "release" / LARGE / "1_attention.ipynb", deep)
    shutil.copy(ROOT / "release" / LARGE / "2_finetuning.ipynb", tmp_path / "ada")
    notes = read_submission(tmp_path / "ada", "ada", assignment).notes
    assert not [note for note in notes if "was found" in note]

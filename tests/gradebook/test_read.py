"""The gradebook is waited for where it is locked, its names are text, and results of two versions are told apart."""

import json
import sqlite3
import threading
from contextlib import closing

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.server_extensions.formgrader import handlers

from autograder import cli
from autograder.cli import main
from autograder.gradebook import read as book
from autograder.gradebook.write import open_gradebook
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.settings import read_config
from autograder.model.verdict import CellVerdict
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, hand_in


@pytest.fixture(name="course")
def graded_course(course: Course) -> Course:
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    return course


@pytest.fixture
def locked(course):
    """A course whose gradebook somebody holds; call the second thing to let go of it."""
    with closing(sqlite3.connect(course.root / "gradebook.db", check_same_thread=False)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        yield course, holder.rollback


def test_a_gradebook_locked_at_start_is_waited_for(locked):
    course, release = locked
    timer = threading.Timer(6.0, release)  # SQLite itself gives up after 5
    timer.start()
    with open_gradebook(course.db_url, ASSIGNMENT) as gradebook:
        assert gradebook.find_assignment(ASSIGNMENT)
    timer.join()


@pytest.mark.parametrize("command", [["feedback"], ["report"], ["export", "--to", "csv"]])
def test_one_that_stays_locked_is_one_line(locked, command, monkeypatch, capsys):
    monkeypatch.setattr(book, "PATIENCE", 0.05)
    course, _ = locked
    assert main(["--course", str(course.root), command[0], ASSIGNMENT, *command[1:]]) == 2
    error = capsys.readouterr().err
    assert "database is locked" in error and "Traceback" not in error and error.count("\n") == 1


def test_a_students_name_is_text_in_the_formgrader(course):
    config = read_config(course.root)
    config.HTMLExporter.template_name = "formgrade"  # as FormgradeExtension.build_extra_config has it
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    evil = "<script>alert('name')</script>"
    resources = {
        "assignment_id": ASSIGNMENT, "notebook_id": NOTEBOOK, "submission_id": "1", "index": 0, "total": 1,
        "base_url": "", "student": "ada", "last_name": evil, "first_name": 'Ada "quoted" O\'Hara',
        "notebook_path": 'x" onclick="alert(1)',
    }  # fmt: skip
    path = course.autograded("ada", ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    page, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    parsed = BeautifulSoup(page, "html.parser")
    (name,) = {tag.text.strip() for tag in parsed.select("a.name-shown")}
    assert name == f"{evil}, {resources['first_name']}"
    assert not [tag for tag in parsed.find_all(True) if tag.get("onclick") == "alert(1)"]
    assert not [tag for tag in parsed.find_all("script") if "alert('name')" in tag.text]


FOUR = (CellVerdict("row_sums", "passed", 4.0, 4.0), cells(3.0, 2.0)[1])


def four_points(course: Course) -> None:
    """The exercise has 4 points now, as after another release; ada was graded when it had 3."""
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_graded_cell("row_sums", NOTEBOOK, "toy").max_score = 4.0
        gradebook.db.commit()


@pytest.mark.parametrize("words", [("export", "toy", "--to", "csv"), ("report", "toy"), ("feedback", "toy")])
def test_results_of_two_versions_are_never_put_side_by_side(course, capsys, words):
    four_points(course)
    hand_in(course, "bob", cells=FOUR)
    assert cli.main(["--course", str(course.root), *words]) == 2
    said = capsys.readouterr().err
    assert "row_sums of 1_sums has 4 points, and had 3 when ada was graded" in said
    assert "run 'autograder grade toy'" in said and len(said.splitlines()) == 1
    hand_in(course, "ada", cells=FOUR)
    assert cli.main(["--course", str(course.root), *words]) == 0


def test_without_a_gradebook_two_versions_are_told_apart_too(course, capsys):
    hand_in(course, "bob", cells=FOUR)
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

"""A locked gradebook is waited for, then said in one line; names in it are text in the formgrader."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers

from autograder.cli import main
from autograder.gradebook import read as book
from autograder.gradebook.write import open_gradebook
from autograder.model.course import Course
from autograder.model.settings import read_config
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course, hand_in


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    course = build_course(tmp_path_factory.mktemp("toy") / "course")
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    return course


@pytest.fixture
def locked(graded, tmp_path):
    """A course whose gradebook somebody holds; call the second thing to let go of it."""
    course = Course(shutil.copytree(graded.root, tmp_path / "course"))
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


def test_a_students_name_is_text_in_the_formgrader(graded):
    config = read_config(graded.root)
    config.HTMLExporter.template_name = "formgrade"  # as FormgradeExtension.build_extra_config has it
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    evil = "<script>alert('name')</script>"
    resources = {
        "assignment_id": ASSIGNMENT, "notebook_id": NOTEBOOK, "submission_id": "1", "index": 0, "total": 1,
        "base_url": "", "student": "ada", "last_name": evil, "first_name": 'Ada "quoted" O\'Hara',
        "notebook_path": 'x" onclick="alert(1)',
    }  # fmt: skip
    path = graded.autograded("ada", ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    page, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    parsed = BeautifulSoup(page, "html.parser")
    (name,) = {tag.text.strip() for tag in parsed.select("a.name-shown")}
    assert name == f"{evil}, {resources['first_name']}"
    assert not [tag for tag in parsed.find_all(True) if tag.get("onclick") == "alert(1)"]
    assert not [tag for tag in parsed.find_all("script") if "alert('name')" in tag.text]

"""What a message advises can be done, and helps."""

import os
import sqlite3
import subprocess
import sys

import pytest

from autograder.errors import gradebook_said
from tests.small_class import SHEET, hand_in, run, small_class


def make_old(database) -> None:
    """As nbgrader left it before October 2018: students have no number in an LMS."""
    with sqlite3.connect(database) as connection:
        connection.execute("ALTER TABLE student DROP COLUMN lms_user_id")
        connection.execute("UPDATE alembic_version SET version_num = '167914646830'")


@pytest.mark.slow
def test_an_old_gradebook_is_upgraded_as_the_message_says(tmp_path, capsys):
    course = small_class(tmp_path / "course")
    make_old(course.root / "gradebook.db")
    hand_in(course, "cleo")
    for command in (f"grade {SHEET} --workers 1", "status", f"export {SHEET} --to csv", f"report {SHEET}"):
        capsys.readouterr()
        assert run(course, *command.split()) == 2, command
        (line,) = capsys.readouterr().err.splitlines()
        assert "'nbgrader db upgrade'" in line and "close" not in line, command
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["nbgrader", "db", "upgrade"], cwd=course.root, env=environment, check=True, capture_output=True)
    assert run(course, "grade", SHEET, "--workers", "1") == 0
    assert "cleo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        (type("UndefinedColumn", (Exception,), {})("column student.lms_user_id does not exist"), "nbgrader db upgrade"),
        ("database is locked", "close what holds it"),
        ("attempt to write a readonly database", "see that you may write"),
        ("database or disk is full", "make room"),
        ("file is not a database", "from your backup"),
        ('connection to server at "127.0.0.1" failed: Connection refused', "the database server runs"),
    ],
)
def test_the_advice_goes_with_what_the_database_said(reason, advice):
    assert advice in gradebook_said(reason if isinstance(reason, Exception) else sqlite3.OperationalError(reason))


def test_a_gradebook_that_is_none_is_said_so(tmp_path, capsys):
    course = small_class(tmp_path / "course")
    (course.root / "gradebook.db").write_bytes(b"no database" * 100)
    for command, code in ((("grade", SHEET), 2), (("status",), 1), (("report", SHEET), 2)):
        capsys.readouterr()
        assert run(course, *command) == code
        said = capsys.readouterr()
        assert "backup" in said.err + said.out, command


def test_a_course_without_a_makefile_is_not_told_to_make(tmp_path, capsys):
    course = small_class(tmp_path / "course")
    (course.root / "gradebook.db").unlink()
    assert run(course, "grade", SHEET) == 2
    said = capsys.readouterr().err
    assert f"run 'autograder release {SHEET}' first" in said and "make" not in said.split()


def test_who_has_no_grade_is_named(tmp_path, capsys):
    course = small_class(tmp_path / "course")
    hand_in(course, "cleo")
    assert run(course, "feedback", SHEET, "--student", "cleo") == 2
    assert "nothing of cleo is graded" in capsys.readouterr().err

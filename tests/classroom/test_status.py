"""``autograder status``: where every assignment stands, without grading anything."""

import json
import shutil
from datetime import UTC, datetime

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom.journal import Entry, Journal
from autograder.cli import main
from autograder.gradebook.late.times import record_times
from autograder.model.course import Course
from autograder.pipeline.fingerprint import content_parts, submission_parts
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course, hand_in

POLICY = "[assignments.toy]\ndeadline = 2026-11-20T09:00:00Z\n"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Ada is graded and has an answer to be read, Bob is graded, Cleo only handed in."""
    made = build_course(tmp_path_factory.mktemp("toy") / "course")
    (made.root / "exercises" / ASSIGNMENT / "row_sums" / "inputs").mkdir(parents=True)
    for student in ("ada", "bob", "cleo"):
        shutil.copytree(made.release(ASSIGNMENT), made.submitted(student, ASSIGNMENT))
    opened = Assignment.open(made, ASSIGNMENT)
    journal = Journal(made.root, ASSIGNMENT)
    for student, written in (("ada", None), ("bob", 2.0)):
        hand_in(made, student, cells=cells(3.0, written))
        sent = read_submission(made.submitted(student, ASSIGNMENT), student, opened)
        journal.saved(student, Entry(content_parts(opened), submission_parts(sent)))
    return made.root


@pytest.fixture
def course(graded, tmp_path):
    return Course(shutil.copytree(graded, tmp_path / "course"))


def status(course, capsys, code=0):
    assert main(["--course", str(course.root), "status", f"{ASSIGNMENT}/", "--json"]) == code
    said = json.loads(capsys.readouterr().out)
    return said | said["assignments"][0]


def change(course, folder, text):
    path = folder / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source += text
    nbformat.write(notebook, path)


def test_everything_is_counted(course, capsys):
    said = status(course, capsys)
    assert {name: said[name] for name in ("handed_in", "graded", "to_grade", "changed", "to_read")} == {
        "handed_in": 3, "graded": 2, "to_grade": 1, "changed": 0, "to_read": 1,
    }  # fmt: skip
    assert said["release"] == "up to date"


def test_what_is_in_use_is_said_and_no_password(course, capsys):
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("c.CourseDirectory.db_url = 'postgresql+psycopg://ada:secret@nowhere.invalid/grades'\n")
    main(["--course", str(course.root), "status", ASSIGNMENT])
    said = capsys.readouterr()
    assert str(course.root) in said.out and "postgresql+psycopg://ada:***@nowhere.invalid/grades" in said.out
    assert "secret" not in said.out + said.err


def with_four_points(course):
    path = course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[2].metadata.nbgrader.points = 4
    nbformat.write(notebook, path)


#: What was done to the course; how its release stands then, and what is a problem.
STANDS = {
    "touched": (lambda course: (course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb").touch(), "up to date", ""),
    "another text": (with_four_points, "stale: 1_sums.ipynb, cell 'row_sums': points 4 in the source", ""),
    "no release": (lambda course: shutil.rmtree(course.release(ASSIGNMENT)), "never released",
                   "autograder release toy"),
    "no notebook": (lambda course: (course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb").write_text("{"), "cannot be read",
                    "is no Jupyter notebook"),
}  # fmt: skip


@pytest.mark.parametrize("done", STANDS)
def test_how_the_release_stands_is_said_and_what_is_a_problem(course, capsys, done):
    do, release, problem = STANDS[done]
    do(course)
    said = status(course, capsys, code=int(bool(problem)))
    assert said["release"].startswith(release)
    assert problem in said["problem"] and (problem or not said["problem"])


def test_a_submission_that_changed_is_to_be_graded_again(course, capsys):
    change(course, course.submitted("bob", ASSIGNMENT), "# another answer")
    assert status(course, capsys)["changed"] == 1


def test_lateness_is_counted_where_a_policy_speaks(course, capsys):
    assert status(course, capsys)["deadline"] == ""
    (course.root / "late_policy.toml").write_text(POLICY)
    record_times(course.root, ASSIGNMENT, {"ada": datetime(2026, 11, 21, tzinfo=UTC)})
    said = status(course, capsys)
    assert (said["late"], said["without_time"]) == (1, 2)
    assert said["deadline"] == "2026-11-20T09:00:00+00:00"


def test_a_wrong_policy_is_a_problem_and_the_rest_is_told(course, capsys):
    (course.root / "late_policy.toml").write_text("deadlin = 1\n")
    said = status(course, capsys, code=1)
    assert "unknown key 'deadlin'" in said["problem"] and said["release"] == "up to date"
    assert [said[name] for name in ("graded", "to_grade", "changed", "to_read", "late")] == [2, 1, 0, None, None]


def test_the_table_says_what_to_type(course, capsys):
    assert main(["--course", str(course.root), "status"]) == 0
    said = capsys.readouterr().out
    assert "toy: release up to date" in said and "'autograder grade toy' grades 1" in said


def test_a_misspelt_assignment_is_one_line(course, capsys):
    assert main(["--course", str(course.root), "status", "toys"]) == 2
    assert capsys.readouterr().err == "autograder: unknown assignment 'toys'; did you mean 'toy'?\n"


def test_nothing_is_written(course, capsys):
    before = {path: path.stat().st_mtime_ns for path in course.root.rglob("*") if path.is_file()}
    status(course, capsys)
    after = {path: path.stat().st_mtime_ns for path in course.root.rglob("*") if path.is_file()}
    assert before == {path: when for path, when in after.items() if path.name != ".gitignore"}

"""What a student hands in beside the notebooks is there for the student's own code, as with nbgrader, within limits."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission, read_submission
from autograder.model.course import Course
from autograder.pipeline.fingerprint import submission_parts
from autograder.pipeline.rebuild import prepare
from tests.plain.notebooks import code, notebook, write


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    for tree in ("source", "release"):
        write(notebook(code("1")), tmp_path / tree / "ps1" / "1.ipynb")
        (tmp_path / tree / "ps1" / "data").mkdir()
        (tmp_path / tree / "ps1" / "data" / "numbers.csv").write_text("1,2")
    return Assignment.open(Course(tmp_path), "ps1")


def handed_in(tmp_path: Path, assignment: Assignment, files: dict[str, str]) -> Submission:
    folder = tmp_path / "submitted" / "ada" / "ps1"
    write(notebook(code("1")), folder / "1.ipynb")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return read_submission(folder, "ada", assignment)


def test_a_module_and_a_table_of_the_students_own_are_laid_beside_the_notebook(tmp_path, assignment):
    submission = handed_in(tmp_path, assignment, {"own.py": "x = 1", "tables/mine.csv": "3"})
    files = prepare(submission, assignment).files
    assert (files["own.py"], files["tables/mine.csv"]) == (b"x = 1", b"3")


def test_a_file_of_the_assignment_stays_what_the_instructor_made_it(tmp_path, assignment):
    submission = handed_in(tmp_path, assignment, {"data/numbers.csv": "changed"})
    assert submission.beside == {}
    assert prepare(submission, assignment).files["data/numbers.csv"] == b"1,2"


def test_a_file_in_the_place_of_a_folder_of_the_assignment_is_left_out(tmp_path, assignment):
    assert handed_in(tmp_path, assignment, {"data": "no folder"}).beside == {}


def test_a_copy_of_the_courses_library_does_not_hide_the_one_that_is_installed(tmp_path, assignment):
    with_library = replace(assignment, library="mylib.sub")
    assert handed_in(tmp_path, with_library, {"mylib/__init__.py": "", "mylib.py": "", "own.py": ""}).beside == {
        "own.py": b""
    }


@pytest.mark.parametrize(
    "name",
    ["2.ipynb", "old/1.ipynb", ".hidden", ".git/config", "__pycache__/own.pyc", "timestamp.txt", "a\\b.txt",
     "old/mine.IPYNB"],
)  # fmt: skip
def test_notebooks_hidden_files_and_what_the_exchange_wrote_are_left_out(tmp_path, assignment, name):
    assert handed_in(tmp_path, assignment, {name: "text"}).beside == {}


def test_a_link_is_left_out_and_said(tmp_path, assignment):
    (tmp_path / "secret").write_text("the instructor's")
    (tmp_path / "submitted/ada/ps1").mkdir(parents=True)
    os.symlink(tmp_path / "secret", tmp_path / "submitted/ada/ps1/own.txt")
    submission = handed_in(tmp_path, assignment, {})
    assert submission.beside == {}
    assert submission.notes == ("own.txt was left out: it is a link",)


def test_more_files_than_anybody_needs_are_left_out_and_said(tmp_path, assignment):
    submission = handed_in(tmp_path, assignment, {f"{number}.csv": "x" for number in range(60)})
    assert len(submission.beside) == 50
    assert submission.notes == ("10 more files were left out: at most 50 with 8 MB are read",)


def test_another_file_of_the_students_own_is_another_submission(tmp_path, assignment):
    before = submission_parts(handed_in(tmp_path, assignment, {"own.py": "x = 1"}))
    after = submission_parts(handed_in(tmp_path, assignment, {"own.py": "x = 2"}))
    assert before != after

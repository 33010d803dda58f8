"""``course.toml``: what it sets, what holds without it, and what is said of a file that cannot be right."""

import pickle

import pytest

from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.course_file import CourseFile, read_course_file
from autograder.model.limits import Limits
from tests.grading import ROOT


def test_a_course_needs_no_file(tmp_path):
    assert read_course_file(tmp_path) == CourseFile()
    assert CourseFile().library == "" and CourseFile().limits == Limits()


def test_this_course_says_what_is_its_own():
    file = Course(ROOT).file
    assert (file.library, file.drawings) == ("course", "course.figures")
    assert file.deliverables == {"encoder_lab": ("models.py",)}
    assert "torch" in file.packages and "course" not in file.packages


def test_limits_are_those_that_are_set_and_the_defaults(tmp_path):
    (tmp_path / "course.toml").write_text("[limits]\ncell_seconds = 120\nmemory_bytes = 2_000_000_000\n")
    limits = read_course_file(tmp_path).limits
    assert limits == Limits(cell_seconds=120.0, memory_bytes=2_000_000_000)


def test_a_course_travels_to_workers_with_its_settings():
    course = Course(ROOT)
    assert pickle.loads(pickle.dumps(course)) == course and hash(course)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("librery = 'course'", "unknown key 'librery' at the top of the file; did you mean 'library'?"),
        ("x = 1", "unknown key 'x' at the top of the file; known are title, term, repository"),
        ("[limits]\ncell_second = 1", r"unknown key 'cell_second' in \[limits\]; did you mean 'cell_seconds'?"),
        ("[publish]\nfile = []", r"unknown key 'file' in \[publish\]; did you mean 'files'?"),
        ("title = 3", "title: expected a text, got 3"),
        ("repository = 'course'", "repository: expected OWNER/NAME"),
        ("library = 'my course'", "library: expected the name of a module"),
        ("warm = 'torch'", "warm: expected a list of texts, got 'torch'"),
        ("warm = ['a b']", "warm: expected the name of a module"),
        ("deliverables = ['models.py']", r"deliverables: expected a table \[deliverables\]"),
        ("[deliverables]\nlab = ['../models.py']", "deliverables.lab: expected a path within its folder"),
        ("[deliverables]\nlab = ['/etc/passwd']", "deliverables.lab: expected a path within its folder"),
        ("[publish]\nfiles = ['../secret']", "files: expected a path within its folder"),
        (
            "[ready_made]\nnn = 'Attention'",
            r'nn: expected functions and classes, such as \["torch.nn.M.*, and no pattern',
        ),
        ("[ready_made]\nnn = ['torch nn']", "ready_made.nn: expected functions and classes"),
        ("[limits]\nprocesses = 1.5", "limits.processes: expected a whole number above 0, got 1.5"),
        ("[limits]\ncell_seconds = true", "limits.cell_seconds: expected a number above 0, got True"),
        ("[limits]\ncell_seconds = 0", "limits.cell_seconds: expected a number above 0, got 0"),
        ("title = ", "course.toml is not TOML"),
        ("[limits]\nprocesses = two", r"\(at line 2, column 13\): processes = two"),
    ],
)
def test_what_cannot_be_right_is_one_line(tmp_path, text, said):
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(GradingError, match=said) as raised:
        read_course_file(tmp_path)
    assert "\n" not in str(raised.value)


def test_the_command_ends_with_exit_code_2(tmp_path, capsys):
    from autograder.cli import main

    (tmp_path / "source").mkdir()
    (tmp_path / "course.toml").write_text("librery = 'course'")
    assert main(["--course", str(tmp_path), "grade", "toy"]) == 2
    assert "did you mean 'library'?" in capsys.readouterr().err

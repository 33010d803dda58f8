"""``nbgrader autograde`` and ``nbgrader export`` refuse what ``autograder`` refuses, and say the same points."""

from pathlib import Path

import pytest

from autograder.model.course import Course
from autograder.release.generate import generate
from tests.pipeline.conftest import nbgrader
from tests.small_class import SHEET, run, small_class, table, write_source

pytestmark = pytest.mark.slow


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return small_class(tmp_path / "course")


def test_nbgrader_autograde_refuses_points_that_were_changed_without_a_release(course: Course) -> None:
    before = course.autograded("ada", SHEET).joinpath("verdicts.json").read_text()
    write_source(course, points=30)
    done = nbgrader(course.root, "autograde", SHEET, "--force")
    assert done.returncode == 1
    assert "points 30 in the source, 3 in the release" in done.said and "run 'autograder release ps1'" in done.said
    assert "Traceback" not in done.said
    assert course.autograded("ada", SHEET).joinpath("verdicts.json").read_text() == before


def test_nbgrader_export_refuses_results_of_two_versions(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    write_source(course, points=30)
    generate(course, SHEET)
    assert run(course, "export", SHEET, "--to", "csv") == 2
    said = capsys.readouterr().err.strip().removeprefix("autograder: ")
    assert "mean of 1_mean has 30 points, and had 3" in said
    done = nbgrader(course.root, "export", "--log-level", "ERROR")
    assert done.returncode == 1
    assert said in done.said and done.said.count("\n") == 1
    assert not (course.root / "grades.csv").exists()


def test_nbgrader_export_has_no_points_of_an_exercise_that_was_dropped(course: Course) -> None:
    assert run(course, "waive", SHEET, "essay", "--drop", "--reason", "unclear") == 0
    assert run(course, "export", SHEET, "--to", "csv") == 0
    assert nbgrader(course.root, "export").returncode == 0
    ours, theirs = table(course.root / "exports" / "ps1.csv"), table(course.root / "grades.csv")
    for student, score in {"ada": "3", "bob": "0"}.items():
        assert (theirs[student]["score"], theirs[student]["max_score"]) == (score, "3")
        assert (ours[student]["score"], ours[student]["max_points"]) == (score, "3")

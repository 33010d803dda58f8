"""Grades of two versions, of submissions that are gone, and a release with a notebook that the source has no more."""

import re
import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.model.course import Course
from autograder.release.generate import generate
from tests.pipeline.conftest import nbgrader
from tests.small_class import RIGHT, SHEET, grade, hand_in, run, small_class, write_source

pytestmark = pytest.mark.slow

APART = r"1 student \(bob\): graded before cell mean changed, unlike others; run 'autograder grade ps1'"
PLACES = (
    ("export", SHEET, "--to", "csv"),
    ("export", "--total", "--to", "csv"),
    ("report", SHEET),
    ("feedback", SHEET),
    ("status",),
)
GONE = r"1 student \(bob\): graded, and the submission is gone since"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return small_class(tmp_path / "course")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    found = capsys.readouterr()
    return found.out + found.err


def test_grades_of_two_versions_of_a_test_are_spoken_of(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    write_source(course, test="assert mean([2, 4]) == 3")
    generate(course, SHEET)
    assert grade(course, "--student", "ada") == 0
    assert re.search(APART, said(capsys))
    for _ in range(2):  # nothing is left to do, and still; the second time from what the first has kept
        assert grade(course, "--student", "ada") == 0
        assert re.search(rf"student(?s:.*){APART}", said(capsys))  # below the table
    for words in PLACES:
        assert run(course, *words) == 0
        assert re.search(APART, said(capsys)), words
    assert re.search(APART, nbgrader(course.root, "export").said)
    assert grade(course) == 0
    assert run(course, "export", SHEET, "--to", "csv") == 0
    assert "unlike others" not in said(capsys)


def test_a_grade_without_a_submission_is_spoken_of(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(course.submitted("bob", SHEET).parent)
    for words in (("grade", SHEET), *PLACES):
        assert run(course, *words) == 0
        assert re.search(GONE, said(capsys)), words
    write_source(course, points=5)
    generate(course, SHEET)
    assert grade(course) == 0
    capsys.readouterr()
    assert run(course, "export", SHEET, "--to", "csv") == 2
    assert "'autograder student erase'" in said(capsys)  # to grade again would lead nowhere


def test_a_newer_submission_is_spoken_of_until_it_is_graded(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(course, "bob", RIGHT + "\n# once more")
    for words in (("grade", SHEET, "--student", "ada"), *PLACES):
        assert run(course, *words) == (words[0] in ("export", "feedback")), words
        assert re.search(r"1 student \(bob\): handed in something newer, which is not graded", said(capsys)), words
    assert grade(course) == 0
    assert run(course, "feedback", SHEET) == 0
    assert "something newer" not in said(capsys)


def ambiguous(course: Course) -> tuple[str, ...]:
    return ("waive", SHEET, "mean", "--full", "--reason", "ambiguous")


def another_test(course: Course) -> tuple[str, ...]:
    write_source(course, test="assert mean([1, 3]) == 2")
    generate(course, SHEET)
    return ("regrade", SHEET, "--yes")


def a_later_time(course: Course) -> tuple[str, ...]:
    (course.root / "late_policy.toml").write_text(
        f'timezone = "UTC"\nper_day = "10%"\n[assignments.{SHEET}]\ndeadline = 2026-11-20T23:59:00\n'
    )
    (course.root / "times.csv").write_text("id,time\n1,2026-11-22 09:00\n")
    with zipfile.ZipFile(course.root / "sent.zip", "w") as archive:
        for path in course.submitted("bob", SHEET).iterdir():
            archive.write(path, f"bob_1_{path.name.count('mean')}_{path.name}")
    (course.root / "names.csv").write_text("id,student\n1,bob\n")
    lists = ("--names", str(course.root / "names.csv"), "--times", str(course.root / "times.csv"))
    return ("collect", SHEET, str(course.root / "sent.zip"), "--yes", *lists)


@pytest.mark.parametrize(
    ("change", "by_the_command", "in_the_status", "on_the_page"),
    [
        (ambiguous, r"bob +│ 1/7 │ 4/7", r"mean: waived, full points", r"Waived, full points"),
        (another_test, r"bob +│ 1_mean/mean +│ +0 │ +3", r"\(bob\): other points since", r"had 0 points then and 3"),
        (a_later_time, r"bob: there already; its time is", r"\b1 +│ 2026-11-20", r"2 days late"),
    ],
)
def test_what_moves_a_grade_is_said_by_its_command_by_the_status_and_on_the_page(
    course: Course, capsys: pytest.CaptureFixture[str], change, by_the_command, in_the_status, on_the_page
) -> None:
    words = change(course)
    assert run(course, *words) == 0
    assert re.search(by_the_command, said(capsys))
    assert run(course, "status") == 0
    assert re.search(in_the_status, said(capsys))
    assert run(course, "feedback", SHEET, "--student", "bob") == 0
    page = (course.root / "feedback" / "bob" / SHEET / "1_mean.html").read_text("utf-8")
    assert len(re.findall(on_the_page, page)) == 1


def test_an_assignment_that_cannot_be_graded_stops_no_other(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(course.source(SHEET), course.source("ps2"))
    assert run(course, "grade", "ps2", SHEET) == 1
    assert re.search(r"bob[\s\S]*ps2: not graded: ps2 was never released", said(capsys))
    assert run(course, "grade", SHEET, "ps3") == 2  # nobody is graded where a name is wrong


def test_who_is_left_out_by_the_settings_is_not_called_gone(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('\nc.CourseDirectory.student_id_exclude = "bob"\n')
    assert grade(course) == 0
    assert "gone" not in said(capsys)


def test_a_notebook_that_is_only_in_the_release_stops_grading(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    (course.source(SHEET) / "2_essay.ipynb").unlink()
    hand_in(course, "ada", RIGHT, "new")
    assert grade(course) == 2
    assert "source and release disagree (2_essay.ipynb: only in the release)" in said(capsys)
    assert run(course, "status") == 0
    assert "stale: 2_essay.ipynb: only in the release" in said(capsys)


@pytest.mark.parametrize(
    ("cell", "code"),
    [('NAME = ""\nCOLLABORATORS = ""', 0), ("# only a remark", 0), ("import random", 2), ('mean = ""', 2)],
)
def test_a_header_that_came_or_went_during_the_term_stops_grading_only_where_code_reads_it(
    course: Course, capsys: pytest.CaptureFixture[str], cell: str, code: int
) -> None:
    path = course.release(SHEET) / "1_mean.ipynb"
    released = nbformat.read(path, as_version=4)
    released.cells.insert(0, nbformat.v4.new_code_cell(cell, id="header"))
    nbformat.write(released, path)
    assert grade(course) == code
    assert ("No grade depends on it" in said(capsys)) is (code == 0)


def test_a_text_that_is_only_in_the_release_stops_nobody(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    text = (course.release(SHEET) / "1_mean.ipynb").read_text(encoding="utf-8")
    unmarked = text.replace('"nbgrader"', '"no_longer"')
    (course.release(SHEET) / "0_read_me.ipynb").write_text(unmarked, encoding="utf-8")
    assert grade(course) == 0
    assert "0_read_me.ipynb: only in the release). No grade depends on it" in said(capsys)

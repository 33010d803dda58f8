"""What the table of ``autograder grade`` says, and what only the whole class shows about a test."""

import json

import pytest

from autograder.classroom.rows import Row, row_of, with_result
from autograder.commands.grade import print_table
from autograder.feedback import render_notebook
from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult, result_of
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, NotebookVerdict, SubmissionVerdict
from autograder.release.generate import generate
from tests.small_class import RIGHT, SHEET, WRONG, hand_in, run, small_class, write_source

STUB = "# YOUR CODE HERE\n    raise NotImplementedError()"
NOBODY = "mean (1_mean): 0 of 3 students who answered have points: is its test right?"
UNTOUCHED = "mean (1_mean): 1 student has points without having changed anything"


@pytest.fixture
def course(tmp_path) -> Course:
    return small_class(tmp_path / "course")


def with_test(course: Course, test: str) -> None:
    """The class once more, with another test; Cleo and Dan are there too."""
    write_source(course, test=test)
    generate(course, SHEET)
    for student, body in (("ada", RIGHT), ("bob", WRONG), ("cleo", RIGHT), ("dan", STUB)):
        hand_in(course, student, body)


def shown(course: Course, capsys, *words: str) -> str:
    capsys.readouterr()
    assert run(course, *words) == 0
    said = capsys.readouterr()
    return said.out + said.err


def test_a_test_that_nobody_passes_is_named_wherever_an_instructor_looks(course, capsys):
    with_test(course, "assert mean([1, 2, 3]) == 7")
    assert NOBODY in shown(course, capsys, "grade", SHEET, "--workers", "1")  # dan's untouched notebook does not count
    assert NOBODY in shown(course, capsys, "grade", SHEET)
    assert NOBODY in shown(course, capsys, "status")
    capsys.readouterr()
    assert run(course, "grade", SHEET, "--json") == 0
    assert NOBODY in json.loads(capsys.readouterr().out)["remarks"]
    shown(course, capsys, "report", SHEET)
    page = (course.root / "reports" / SHEET / "index.html").read_text()
    assert "Nobody who answered has points: is the test right?" in page and "<td>3 students</td>" in page


def test_a_test_that_an_untouched_notebook_passes_is_named(course, capsys):
    with_test(course, "assert mean")
    assert UNTOUCHED in shown(course, capsys, "grade", SHEET, "--workers", "1")
    assert UNTOUCHED in shown(course, capsys, "status")
    shown(course, capsys, "report", SHEET)
    assert "Whoever changed nothing has points" in (course.root / "reports" / SHEET / "index.html").read_text()


def test_nothing_is_said_where_somebody_passes_or_too_few_answered(course, capsys):
    hand_in(course, "dan", STUB)
    assert "is its test right" not in shown(course, capsys, "grade", SHEET, "--workers", "1")
    with_test(course, "assert mean([1, 2, 3]) == 7")
    (course.submitted("ada", SHEET)).rename(course.root / "aside")
    assert "is its test right" not in shown(course, capsys, "grade", SHEET, "--workers", "1")


def test_notes_that_the_table_counts_can_be_read(course, capsys):
    path = course.submitted("ada", SHEET) / "1_mean.ipynb"
    text = path.read_text()
    path.with_name("1_mean (1).ipynb").write_text(text)
    path.write_text(text.replace("mean_answer", "gone"))
    table = shown(course, capsys, "grade", SHEET, "--workers", "1")
    assert "notes)" in table and f"'autograder grade {SHEET} --notes' lists the notes" in table
    listed = shown(course, capsys, "grade", SHEET, "--notes")
    assert "ada: " in listed and "'gone'" in listed and "lists the notes" not in listed


def test_who_has_no_time_is_named_where_there_is_a_deadline(course, capsys):
    assert "recorded time" not in shown(course, capsys, "grade", SHEET)
    policy = f'timezone = "UTC"\n[assignments.{SHEET}]\ndeadline = 2027-01-15T23:59:00\n'
    (course.root / "late_policy.toml").write_text(policy)
    said = "2 students (ada, bob): no recorded time, so counted as on time"
    assert said in shown(course, capsys, "grade", SHEET)
    assert shown(course, capsys, "status").count("recorded time") == 1


def test_a_notebook_without_points_has_no_0_and_a_cell_of_0_points_has_not_failed(capsys):
    from rich.console import Console

    cells = (CellVerdict("square", "passed", 2.0, 2.0), CellVerdict("extra", "failed", 0.0, 0.0))
    books = (
        NotebookVerdict("ada", "ps", "0_intro", (), seconds=1.0),
        NotebookVerdict("ada", "ps", "1_square", cells, seconds=1.0),
    )
    verdict = SubmissionVerdict("ada", "ps", books)
    results = {("1_square", cell.cell): result_of(cell) for cell in cells}
    row = with_result(row_of(verdict), StudentResult(Student("ada"), results, verdict=verdict))
    assert row.failed == () and row.points == {"0_intro": 0.0, "1_square": 2.0}
    print_table(Console(width=100), [row, Row("bob", {}, {}, failure="no")], {})
    line = next(line for line in capsys.readouterr().out.splitlines() if "ada" in line)
    assert [part.strip() for part in line.strip("│").split("│")] == ["ada", "", "2", "2/2", ""]


def test_the_page_of_a_notebook_without_points_says_so():
    page = render_notebook(None, NotebookVerdict("ada", "ps", "0_intro", ()))
    assert "No points are given in this notebook" in page and "of 0 points" not in page and "<table" not in page

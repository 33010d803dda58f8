"""Two assignments from Moodle and back, as an instructor types them: one row per person from beginning to end."""

from __future__ import annotations

import csv
import io
import re
import shutil
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.cli import main
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.exports.importers import moodle_worksheet
from tests.feedback.toy import ROOT, marks
from tests.lms.test_feedback_zips import as_moodle_reads, everything

pytestmark = pytest.mark.slow

ANSWERS = {"square": "return x * x", "cube": "return x ** 3"}
POINTS = {"square": 2, "cube": 3}
#: address -> full name; two have the same.
PEOPLE = {
    "ada@uni.example": "Ada Lovelace", "bob@uni.example": "Bob O'Neil", "sam@uni.example": "Sam Lee",
    "samuel@uni.example": "Sam Lee", "=1+1@uni.example": "=HYPERLINK(A1)",
}  # fmt: skip
#: Assignment -> address -> Moodle's number. A number is one person's in the first, and another's in the second.
NUMBERS = {
    "first": dict(zip(PEOPLE, (1001, 1002, 1003, 1004, 1005), strict=True)),
    "second": dict(zip(PEOPLE, (1002, 1003, 1001, 2004, 1004), strict=True)),
}
#: Assignment -> address -> the functions that are right.
RIGHT = {
    "first": {"ada@uni.example": "square cube", "bob@uni.example": "square", "sam@uni.example": "cube",
              "samuel@uni.example": "square cube", "=1+1@uni.example": ""},
    "second": {"ada@uni.example": "cube", "bob@uni.example": "square cube", "sam@uni.example": "square",
               "=1+1@uni.example": "square"},
}  # fmt: skip


def notebook():
    cells = []
    for name, answer in ANSWERS.items():
        code = f"def {name}(x):\n    ### BEGIN SOLUTION\n    {answer}\n    ### END SOLUTION"
        test = f"assert {name}(3) == {3**2 if name == 'square' else 3**3}"
        cells.append(new_code_cell(code, metadata=marks(f"{name}_answer", grade=False, solution=True)))
        cells.append(new_code_cell(test, metadata=marks(name, grade=True, solution=False, points=POINTS[name])))
    return new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )


def answered(right):
    made = notebook()
    for cell in made.cells[::2]:
        name = cell.metadata["nbgrader"]["grade_id"].removesuffix("_answer")
        cell.source = f"def {name}(x):\n    {ANSWERS[name] if name in right.split() else 'return 0'}"
    return nbformat.writes(made).encode()


@pytest.fixture
def course(tmp_path):
    root = tmp_path / "course"
    for assignment in NUMBERS:
        (root / "source" / assignment).mkdir(parents=True)
        nbformat.write(notebook(), root / "source" / assignment / "p1.ipynb")
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for assignment in NUMBERS:
        generate(Course(root), assignment)
    return Course(root)


def downloads(folder, assignment):
    """Moodle's zip and its worksheet."""
    numbers = NUMBERS[assignment]
    form = {"first": "{name}_{number}_assignsubmission_file_/p1.ipynb",
            "second": "{name}_{number}_assignsubmission_file/p1.ipynb"}[assignment]  # fmt: skip
    with zipfile.ZipFile(folder / f"{assignment}.zip", "w") as made:
        for email, right in RIGHT[assignment].items():
            name = re.sub(r"[&<>\"`|':\\/]", "", PEOPLE[email])
            made.writestr(form.format(name=name, number=numbers[email]), answered(right))
    with (folder / f"{assignment}.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        sheet = csv.writer(stream)
        sheet.writerow(["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade",
                        "Last modified (submission)", "Last modified (grade)", "Feedback comments"])  # fmt: skip
        for email, number in numbers.items():
            when = "2026-11-20T09:00:00+01:00" if email in RIGHT[assignment] else "-"
            sheet.writerow([f"Participant {number}", PEOPLE[email], email, "", "", 5, when, "-", ""])
    return str(folder / f"{assignment}.zip"), str(folder / f"{assignment}.csv")


def test_d2_two_assignments_from_moodle_and_back_are_one_row_per_person(course, tmp_path, capsys):
    def say(*words):
        return main(["--course-dir", str(course.root), *words])

    for assignment in NUMBERS:
        source, sheet = downloads(tmp_path, assignment)
        if assignment == "second":  # the first one's worksheet has the same numbers, of other people
            assert say("collect", assignment, source, "--names", str(tmp_path / "first.csv"), "--yes") == 2
        assert say("collect", assignment, source, "--names", sheet, "--times", sheet, "--yes") == 0
    assert len(course.everybody_submitted()) == len(PEOPLE)
    capsys.readouterr()
    for assignment in NUMBERS:
        assert say("grade", assignment, "--no-isolation") == 0
        sheet = tmp_path / f"{assignment}.csv"
        assert say("export", assignment, "--to", "moodle", "--columns", str(sheet)) == 0
        assert say("feedback", assignment, "--to", "moodle") == 0
        exported = (course.root / "exports" / f"{assignment}-moodle.csv").read_bytes()
        people = [{"participant": number, "username": email} for email, number in NUMBERS[assignment].items()]
        expected = {
            email: f"{sum(POINTS[name] for name in right.split()):g}" for email, right in RIGHT[assignment].items()
        }
        grades = {email: grade for email, (grade, _) in moodle_worksheet(exported, people).items()}
        assert grades == expected
        packed = as_moodle_reads(
            everything(course.root / "exports" / f"{assignment}-feedback-moodle.zip"), set(NUMBERS[assignment].values())
        )
        assert {number for number, _ in packed} == {NUMBERS[assignment][email] for email in RIGHT[assignment]}
    for command in ("export", "feedback"):
        capsys.readouterr()
        assert say(command, "second", "--to", "moodle", "--columns", str(tmp_path / "first.csv")) == 2
        assert "looks like another assignment's worksheet" in capsys.readouterr().err
    assert say("export", "--total", "--to", "csv") == 0
    total = (course.root / "exports" / "course-total.csv").read_text(encoding="utf-8-sig")
    rows = {row["email"]: row for row in csv.DictReader(io.StringIO(total))}
    assert len(rows) == total.count("\n") - 1 == len(PEOPLE)
    assert rows["ada@uni.example"]["points"] == "8" and rows["bob@uni.example"]["points"] == "7"
    assert rows["'=1+1@uni.example"]["points"] == "2"

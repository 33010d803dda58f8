"""Two small notebooks without torch: a function with a plain test, and an essay. Ada is right, Bob is wrong."""

import csv
import shutil
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.authoring.course_folder import make_course
from autograder.cli import main
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.feedback.toy import marks
from tests.once import made_once

SHEET = "ps1"
RIGHT, WRONG = "return sum(x) / len(x)", "return sum(x) / 2"
TEST = "assert mean([1, 2, 3]) == 2"


def small_class(folder: Path) -> Course:
    """Released, handed in and graded; a mark by hand for each essay: 3 for Ada's, 1 for Bob's."""
    return Course(shutil.copytree(made_once("small-class", _make), folder))


def _make(root: Path) -> None:
    make_course(root)
    for stage in ("source", "exercises"):
        shutil.rmtree(root / stage / "signals")
    course = Course(root)
    write_source(course)
    generate(course, SHEET)
    hand_in(course, "ada")
    hand_in(course, "bob", WRONG, "hm")
    assert grade(course) == 0
    mark(course, "ada", 3)
    mark(course, "bob", 1)
    assert grade(course) == 0


def write_source(course: Course, points: float = 3, test: str = TEST) -> None:
    code = f"def mean(x):\n    ### BEGIN SOLUTION\n    {RIGHT}\n    ### END SOLUTION"
    hidden = f"### BEGIN HIDDEN TESTS\n{test}\n### END HIDDEN TESTS"
    _write(course.source(SHEET), code, hidden, "### BEGIN SOLUTION\nCLT\n### END SOLUTION", points)


def hand_in(course: Course, student: str, body: str = RIGHT, essay: str = "CLT") -> None:
    _write(course.submitted(student, SHEET), f"def mean(x):\n    {body}", "", essay, 3)


def _write(folder: Path, code: str, test: str, essay: str, points: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    answer, judged = (marks(f"mean{end}", grade=not end, solution=bool(end), points=points) for end in ("_answer", ""))
    read = marks("essay", grade=True, solution=True, points=4)
    books = {
        "1_mean": [new_code_cell(code, id="a", metadata=answer), new_code_cell(test, id="b", metadata=judged)],
        "2_essay": [new_markdown_cell(essay, id="c", metadata=read)],
    }
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    for name, cells in books.items():
        nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / f"{name}.ipynb")


def mark(course: Course, student: str, points: float) -> None:
    """As a person does in the formgrader."""
    with Gradebook(course.db_url) as gradebook:
        found = gradebook.find_grade("essay", "2_essay", SHEET, student)
        found.manual_score, found.needs_manual_grade = points, False
        gradebook.db.commit()


def grade(course: Course, *words: str) -> int:
    return run(course, "grade", SHEET, "--workers", "1", *words)


def run(course: Course, *words: str) -> int:
    return main(["--course", str(course.root), *words])


def table(path: Path) -> dict[str, dict[str, str]]:
    """A file of grades: student to line."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        lines = list(csv.DictReader(stream))
    return {line.get("student_id") or line["student"]: line for line in lines}

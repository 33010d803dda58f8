"""No student is led to the placeholder: the notebooks that are graded name the course's public repository, too."""

from __future__ import annotations

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.feedback import write_feedback
from autograder.model.course import Course
from autograder.nbgrader.exporters import FeedbackExporter
from autograder.pipeline.fingerprint import content_parts
from autograder.release.generate import generate
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course, hand_in, instructor_notebook

PLACEHOLDER, REPOSITORY = "example/transformer-course", "uni/their-course"
BADGE = f"[Open in Colab](https://colab.research.google.com/github/{PLACEHOLDER}/blob/main/1_sums.ipynb)"


def name_repository(course: Course) -> Course:
    path = course.root / "course.toml"
    text = path.read_text()
    path.write_text(text.replace(f'repository = "{PLACEHOLDER}"', f'repository = "{REPOSITORY}"'))
    return Course(course.root)


@pytest.fixture
def course(tmp_path) -> Course:
    """Its notebook has a badge and a setup cell; nobody has named the repository yet."""
    made = build_course(tmp_path / "course")
    notebook = instructor_notebook()
    setup = nbformat.v4.new_code_cell(f'REPOSITORY = "{PLACEHOLDER}"\nprint(REPOSITORY)', id="setup")
    for cell in notebook.cells:  # the toy's exercise has no stored reference
        cell.source = cell.source.replace('reference("toy/row_sums")', "[]")
    notebook.cells[:0] = [nbformat.v4.new_markdown_cell(BADGE, id="badge"), setup]
    nbformat.write(notebook, made.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb")
    generate(made, ASSIGNMENT)
    return made


def test_h3_feedback_and_formgrader_lead_to_the_courses_repository(course):
    course = name_repository(course)
    generate(course, ASSIGNMENT)
    hand_in(course, "ada")
    (page,) = write_feedback(course, ASSIGNMENT, "ada")
    shown_by_the_formgrader = course.autograded("ada", ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    for path in (page, shown_by_the_formgrader, course.release(ASSIGNMENT) / f"{NOTEBOOK}.ipynb"):
        text = path.read_text()
        assert PLACEHOLDER not in text and REPOSITORY in text, path


def test_h3_a_repository_that_is_named_after_grading_is_on_the_pages_and_grades_nobody_again(course, monkeypatch):
    hand_in(course, "ada")
    before = content_parts(Assignment.open(course, ASSIGNMENT))
    course = name_repository(course)
    (page,) = write_feedback(course, ASSIGNMENT, "ada")
    assert PLACEHOLDER not in page.read_text() and REPOSITORY in page.read_text()
    generate(course, ASSIGNMENT)
    assert content_parts(Assignment.open(course, ASSIGNMENT)) == before

    monkeypatch.chdir(course.root)
    notebook = nbformat.read(course.autograded("ada", ASSIGNMENT) / f"{NOTEBOOK}.ipynb", as_version=4)
    names = {"student": "ada", "assignment": ASSIGNMENT, "notebook": NOTEBOOK}
    page, _ = FeedbackExporter().from_notebook_node(notebook, {"nbgrader": names})
    assert PLACEHOLDER not in page and REPOSITORY in page

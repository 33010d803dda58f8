"""Feedback on disk: ``feedback/<student>/<assignment>/<notebook>.html``, and what the exchange needs beside it."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.assignment.submission import exchange_files
from autograder.errors import NothingToGrade
from autograder.feedback.page import render_notebook
from autograder.files.atomic import replacing, writing
from autograder.gradebook.gather import gather_one
from autograder.gradebook.results import StudentResult
from autograder.model.course import Course


def write_feedback(course: Course, assignment: str, student: str, result: StudentResult | None = None) -> list[Path]:
    """Write one page per notebook of the assignment. The folder is replaced as a whole.

    result: the student's, where it was gathered already.
    Raises NothingToGrade where the submission was not graded yet, GradingError where nothing can be written.
    """
    result = result or gather_one(course, assignment, student)
    if result is None or result.verdict is None:
        raise NothingToGrade(
            f"{student} has no verdict for {assignment!r} yet: run 'autograder grade {assignment}' first"
        )
    by = result.submitted_by or student
    graded, folder = course.autograded(by, assignment), course.feedback(student, assignment)
    pages = {}
    for verdict in result.verdict.notebooks:
        notebook = _autograded(graded / f"{verdict.notebook}.ipynb", course)
        pages[verdict.notebook] = render_notebook(notebook, verdict, result, course.file.library)
    beside = exchange_files(course.submitted(by, assignment))
    with writing(folder), replacing(folder) as fresh:
        for name, page in pages.items():
            (fresh / f"{name}.html").write_text(page, encoding="utf-8")
        for name, data in beside.items():
            (fresh / name).write_bytes(data)
    return [folder / f"{name}.html" for name in pages]


def _autograded(path: Path, course: Course) -> NotebookNode | None:
    """With the repository of now: it may have been named after the notebook was graded."""
    return course.file.fill_in(nbformat.read(path, as_version=4)) if path.is_file() else None

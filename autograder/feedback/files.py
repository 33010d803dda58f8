"""Feedback on disk: ``feedback/<student>/<assignment>/<notebook>.html``, and not one file more."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from autograder import verdict as verdicts
from autograder.assignment import Course
from autograder.errors import NothingToGrade
from autograder.feedback.page import render_notebook


@dataclass(frozen=True)
class Marks:
    """What people wrote into the gradebook about one notebook."""

    comments: dict[str, str] = field(default_factory=dict)
    manual: dict[str, float] = field(default_factory=dict)
    late_penalty: float = 0.0


def marks_of(gradebook: Gradebook, assignment: str, student: str, notebook: str) -> Marks:
    """Comments (nbgrader's own "No response." among them), points given by hand, late penalty."""
    try:
        stored = gradebook.find_submission_notebook(notebook, assignment, student)
    except MissingEntry:
        return Marks()
    manual = {
        grade.name: grade.score for grade in stored.grades if grade.manual_score is not None or grade.extra_credit
    }
    comments = {comment.name: comment.comment for comment in stored.comments if comment.comment}
    return Marks(comments, manual, stored.late_submission_penalty or 0.0)


def write_feedback(course: Course, assignment: str, student: str) -> list[Path]:
    """Write one page per notebook of the assignment. The folder is replaced as a whole.

    Raises NothingToGrade where the submission was not graded yet.
    """
    graded = course.autograded(student, assignment)
    try:
        submission = verdicts.read(graded / "verdicts.json")
    except FileNotFoundError:
        raise NothingToGrade(
            f"{student} has no verdict for {assignment!r} yet: run 'autograder grade {assignment}' first"
        ) from None
    pages: dict[str, str] = {}
    with Gradebook(course.db_url) as gradebook:
        for verdict in submission.notebooks:
            marks = marks_of(gradebook, assignment, student, verdict.notebook)
            notebook = _autograded(graded / f"{verdict.notebook}.ipynb")
            pages[verdict.notebook] = render_notebook(
                notebook, verdict, marks.comments, marks.manual, marks.late_penalty
            )
    return _replace(course.feedback(student, assignment), pages)


def _autograded(path: Path) -> NotebookNode | None:
    return nbformat.read(path, as_version=4) if path.is_file() else None


def _replace(folder: Path, pages: dict[str, str]) -> list[Path]:
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name, page in pages.items():
        (fresh / f"{name}.html").write_text(page, encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(fresh, folder)
    return [folder / f"{name}.html" for name in pages]

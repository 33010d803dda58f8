"""Feedback on disk: ``feedback/<student>/<assignment>/<notebook>.html``, and what the exchange needs beside it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder import verdict as verdicts
from autograder.assignment import Course, exchange_files
from autograder.errors import NothingToGrade
from autograder.feedback.marks import Marks, read_marks
from autograder.feedback.page import render_notebook


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
    marks = read_marks(course.db_url, assignment, student)
    pages: dict[str, str] = {}
    for verdict in submission.notebooks:
        notebook = _autograded(graded / f"{verdict.notebook}.ipynb")
        own = marks.get((student, verdict.notebook), Marks())
        pages[verdict.notebook] = render_notebook(notebook, verdict, own.comments, own.manual, own.late_penalty)
    return _replace(course.feedback(student, assignment), pages, exchange_files(course.submitted(student, assignment)))


def _autograded(path: Path) -> NotebookNode | None:
    return nbformat.read(path, as_version=4) if path.is_file() else None


def _replace(folder: Path, pages: dict[str, str], beside: dict[str, bytes]) -> list[Path]:
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name, page in pages.items():
        (fresh / f"{name}.html").write_text(page, encoding="utf-8")
    for name, data in beside.items():
        (fresh / name).write_bytes(data)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(fresh, folder)
    return [folder / f"{name}.html" for name in pages]

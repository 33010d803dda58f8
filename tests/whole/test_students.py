"""A scripted student fills every gap of an assignment and gets full points.

The answers (``tests/whole/student/``) were written from the released notebooks alone: what the text says is enough.
"""

from __future__ import annotations

from importlib import import_module

import pytest

from autograder.model import cells
from tests.grading import assignment, filled, grade_submission

pytestmark = pytest.mark.slow
STUDENTS = ["distilbert_lab", "transformer_tutorial"]


@pytest.mark.parametrize("name", STUDENTS)
def test_answers_written_from_the_released_text_get_full_points(name: str) -> None:
    answers = import_module(f"tests.whole.student.{name}").ANSWERS
    opened = assignment(name)
    assert set(answers) == set(opened.release)
    for notebook, release in opened.release.items():
        gaps = {cells.grade_id(cell) for cell in release.cells if cells.is_solution(cell) and not cells.is_graded(cell)}
        assert gaps == set(answers[notebook]), f"{notebook}: each gap is filled by the student, none by the solution"
    graded = grade_submission(name, {notebook: filled(name, notebook, texts) for notebook, texts in answers.items()})
    judged = [(notebook, cell) for notebook in graded.verdict.notebooks for cell in notebook.cells]
    lost = {
        f"{notebook.notebook}/{cell.cell}: {cell.points} of {cell.max_points}": cell.checks
        for notebook, cell in judged
        if cell.status != "manual" and cell.points != cell.max_points
    }
    assert lost == {}

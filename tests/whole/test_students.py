"""A scripted student fills every gap of an assignment and gets full points.

The answers (``tests/whole/student/``) were written from the released notebooks alone: what the text says is enough.
"""

from importlib import import_module

import pytest

from autograder.model import cells
from tests.grading import ROOT, assignment, filled, grade_submission

pytestmark = pytest.mark.slow
ASSIGNMENTS = sorted(path.name for path in (ROOT / "release").iterdir())


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_answers_written_from_the_released_text_get_full_points(name: str) -> None:
    student = import_module(f"tests.whole.student.{name}")
    answers, files = student.ANSWERS, getattr(student, "FILES", {})
    opened = assignment(name)
    assert set(answers) == set(opened.release)
    for notebook, release in opened.release.items():
        gaps = {cells.grade_id(cell) for cell in release.cells if cells.is_solution(cell) and not cells.is_graded(cell)}
        assert gaps == set(answers[notebook]), f"{notebook}: each gap is filled by the student, none by the solution"
    notebooks = {notebook: filled(name, notebook, texts) for notebook, texts in answers.items()}
    graded = grade_submission(name, notebooks, files)
    judged = [(notebook, cell) for notebook in graded.verdict.notebooks for cell in notebook.cells]
    lost = {
        f"{notebook.notebook}/{cell.cell}: {cell.points} of {cell.max_points}": cell.checks
        for notebook, cell in judged
        if cell.status != "manual" and cell.points != cell.max_points
    }
    assert lost == {}

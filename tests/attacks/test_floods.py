"""Submissions that make much out of little: each keeps its points, and what is kept of it stays small."""

from __future__ import annotations

import nbformat
import pytest

from autograder.feedback.page import render_notebook
from autograder.model.course_file import read_course_file
from autograder.report.code import _of_notebook
from autograder.report.page import ready_made
from autograder.report.similarity import similar_pairs
from tests.attacks.attempt import NOTEBOOK
from tests.attacks.floods import FLOODS, Flood
from tests.attacks.test_attacks import LIMITS, graded, solved
from tests.grading import ROOT, assignment

PATTERNS = read_course_file(ROOT).ready_made
pytestmark = pytest.mark.xdist_group("attacks")


@pytest.mark.parametrize("flood", FLOODS, ids=lambda flood: flood.id)
def test_a_flood_keeps_its_points_and_stays_small(flood: Flood):
    result = graded(flood.submission(solved()))
    (verdict,) = result.verdict.notebooks
    assert verdict.points == 5
    notebook = result.notebooks[NOTEBOOK]
    assert len(nbformat.writes(notebook).encode()) < 2.5 * LIMITS.notebook_output_bytes
    assert len(render_notebook(notebook, verdict).encode()) < 10 * LIMITS.notebook_output_bytes
    answers = list(_of_notebook("student", notebook, assignment("distilbert").release[NOTEBOOK]))
    assert not similar_pairs(answers)
    assert not ready_made(answers, PATTERNS) or flood.id == "drawings"

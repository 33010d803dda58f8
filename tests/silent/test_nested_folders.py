"""A notebook that lies in a folder of the submission is not graded there, and its place is said."""

from __future__ import annotations

import shutil

import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.errors import NothingToGrade
from tests.pipeline.conftest import ROOT

SHEET = "numpy_attention"
HINT = "1_attention.ipynb was found in homework/final/, where nothing is graded: move it up"


@pytest.fixture(scope="module")
def assignment():
    return Assignment.open(ROOT, SHEET)


def test_where_one_of_several_notebooks_lies_is_said(assignment, tmp_path):
    shutil.copytree(ROOT / "release" / SHEET, tmp_path / "ada")
    (tmp_path / "ada" / "homework" / "final").mkdir(parents=True)
    (tmp_path / "ada" / "1_attention.ipynb").rename(tmp_path / "ada" / "homework" / "final" / "1_attention.ipynb")
    submission = read_submission(tmp_path / "ada", "ada", assignment)
    assert "1_attention" not in submission.notebooks and HINT in submission.notes


def test_where_everything_lies_is_said(assignment, tmp_path):
    shutil.copytree(ROOT / "release" / SHEET, tmp_path / "ada" / "homework" / "final")
    with pytest.raises(NothingToGrade, match="was found in homework/final/"):
        read_submission(tmp_path / "ada", "ada", assignment)


def test_a_deep_or_wide_tree_is_not_searched(assignment, tmp_path):
    deep = tmp_path / "ada" / "/".join("abcdefgh")
    deep.mkdir(parents=True)
    shutil.copy(ROOT / "release" / SHEET / "1_attention.ipynb", deep)
    shutil.copy(ROOT / "release" / SHEET / "2_finetuning.ipynb", tmp_path / "ada")
    notes = read_submission(tmp_path / "ada", "ada", assignment).notes
    assert not [note for note in notes if "was found" in note]

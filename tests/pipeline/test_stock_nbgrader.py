"""Stock nbgrader keeps working: its lists are the ones we plug into, and its verdicts are ours."""

from __future__ import annotations

import shutil

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback

from autograder.assignment import Course
from autograder.classroom import Order, grade_class
from autograder.sample import EXPECTED
from tests.pipeline.conftest import nbgrader


def names(converter, trait):
    return [step.__name__ for step in converter.class_traits()[trait].default()]


def test_nbgraders_default_lists_are_those_that_the_config_was_written_for():
    assert names(Autograde, "sanitize_preprocessors") == [
        "ClearOutput", "DeduplicateIds", "OverwriteKernelspec", "OverwriteCells", "CheckCellMetadata",
    ]  # fmt: skip
    assert names(Autograde, "autograde_preprocessors") == [
        "Execute", "IgnorePattern", "ClearMetadataPreprocessor", "LimitOutput", "SaveAutoGrades", "AssignLatePenalties",
        "CheckCellMetadata",
    ]  # fmt: skip
    assert names(GenerateAssignment, "preprocessors") == [
        "IncludeHeaderFooter", "InstantiateTests", "LockCells", "ClearSolutions", "ClearOutput", "CheckCellMetadata",
        "ComputeChecksums", "SaveCells", "ClearHiddenTests", "ClearMarkScheme", "ComputeChecksums", "CheckCellMetadata",
    ]  # fmt: skip
    assert names(GenerateFeedback, "preprocessors") == ["GetGrades", "CSSHTMLHeaderPreprocessor"]


def scores(course: Course, url: str | None = None) -> dict[str, dict[str, tuple[float | None, bool]]]:
    """student -> cell -> (automatic score, waits for a human), from the gradebook."""
    with Gradebook(url or course.db_url) as gradebook:
        return {
            submission.student.id: {
                grade.name: (grade.auto_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions("distilbert")
        }


@pytest.mark.slow
def test_nbgrader_autograde_gives_the_grades_of_autograder_grade(sample):
    rows = grade_class(sample, Order("distilbert", workers=2))
    ours = scores(sample)
    assert {row.student: row.total for row in rows} == EXPECTED

    other = Course(shutil.copytree(sample.root, sample.root.with_name("stock")))
    shutil.rmtree(other.root / "autograded")
    (other.root / "gradebook.db").unlink()
    assert nbgrader(other.root, "generate_assignment", "distilbert", "--force").returncode == 0
    done = nbgrader(other.root, "autograde", "distilbert")
    assert done.returncode == 0, done.stderr[-3000:]
    assert scores(other) == ours


@pytest.mark.slow
def test_what_a_submission_brings_along_is_not_copied_into_autograded(sample):
    folder = sample.submitted("ada", "distilbert")
    secret = sample.root / "secret.txt"
    secret.write_text("the teacher's")
    (folder / "notes.txt").symlink_to(secret)
    (folder / "sub").mkdir()
    (folder / "sub" / "ipykernel_launcher.py").write_text("raise SystemExit('ours now')")
    done = nbgrader(sample.root, "autograde", "distilbert", "--student", "ada")
    assert done.returncode == 0, done.stderr[-3000:]
    left = {path.name for path in sample.autograded("ada", "distilbert").iterdir()}
    assert left == {
        *(f"{path.name}" for path in (sample.root / "release" / "distilbert").glob("*.ipynb")),
        "verdicts.json",
    }
    assert scores(sample)["ada"]["embeddings"] == (5.0, False)

"""Stock nbgrader keeps working: its lists are the ones we plug into, and its verdicts are ours."""

from __future__ import annotations

import json
import shutil

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback

from autograder.classroom.run import GradingOptions, grade_class
from autograder.model.course import Course
from benchmarks.courses import make_course
from demo import EXPECTED
from tests.attacks.files import ODD_FILES
from tests.damage.test_damage import answer_renamed, as_format_3, deleted
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
    rows = grade_class(sample, GradingOptions("distilbert", workers=2))
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
    secret.write_text("the instructor's")
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


DAMAGE = (deleted, answer_renamed, as_format_3)
ODD = [odd for odd in ODD_FILES if odd.id in {
    "escapes", "folder-as-notebook", "folder-and-notebook", "no-utf8-alone", "link-to-another", "folder-is-a-link",
    "other-capitals", "empty", "truncated",
}]  # fmt: skip


@pytest.fixture(scope="module")
def odd_class(tmp_path_factory) -> Course:
    """Two notebooks, and a class whose files are odd: nobody's is what nbgrader expects."""
    course = make_course(tmp_path_factory.mktemp("stock") / "course", 1, only="[12]_*")
    (course.root / "submitted" / "student0000").rename(course.root / "submitted" / "honest")
    honest = course.submitted("honest", "distilbert")
    for odd in ODD:
        folder = course.submitted(odd.id, "distilbert")
        folder.mkdir(parents=True)
        odd.lay_out(folder, (honest / "1_embedding.ipynb").read_bytes())
    for damage in DAMAGE:
        notebook = json.loads((honest / "2_attention_block.ipynb").read_bytes())
        damage(notebook)
        folder = course.submitted(damage.__name__, "distilbert")
        folder.mkdir(parents=True)
        (folder / "2_attention_block.ipynb").write_text(json.dumps(notebook))
    (honest / "1_embedding.ipynb").write_bytes(b"")
    return course


@pytest.mark.slow
def test_odd_and_damaged_files_have_the_same_grades_under_stock_nbgrader(odd_class):
    other = Course(shutil.copytree(odd_class.root, odd_class.root.with_name("other"), symlinks=True))
    failed = {row.student for row in grade_class(odd_class, GradingOptions("distilbert", workers=2)) if row.failure}
    assert failed == {odd.id for odd in ODD if odd.points is None}
    done = nbgrader(other.root, "autograde", "distilbert")
    assert scores(other) == scores(odd_class)
    assert done.returncode == 1  # said aloud, and nobody has a zero for it
    assert all(f"for student '{student}'" in done.stderr for student in failed)

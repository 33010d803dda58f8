"""Stock nbgrader keeps working: its lists are the ones we plug into, and its verdicts are ours."""

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback

from autograder.classroom.run import GradingOptions, grade_class
from autograder.gradebook.gather import gather
from autograder.gradebook.late.times import record_times
from autograder.model.course import Course
from tests.attacks.files import ASSIGNMENT, NAME, ODD_FILES
from tests.damaged_lab import as_format_3, at
from tests.grading import leave_out_shown
from tests.pipeline.conftest import graded_class, nbgrader, new_course
from tools.bench.courses import make_course, without_warm_modules
from tools.demo import EXPECTED, build_sample_class

#: Right but half, wrong, forged.
STUDENTS = ("barbara", "grace", "mallory")
LATE = datetime(2026, 12, 1, tzinfo=UTC)


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


def scores(
    course: Course, url: str | None = None, assignment: str = "distilbert"
) -> dict[str, dict[str, tuple[float | None, bool]]]:
    """student -> cell -> (automatic score, waits for a human), from the gradebook."""
    with Gradebook(url or course.db_url) as gradebook:
        return {
            submission.student.id: {
                grade.name: (grade.auto_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(assignment)
        }


@dataclass(frozen=True)
class Stock:
    """A part of the sample class, graded by ``nbgrader autograde``. ``ours``: what ``autograder grade`` gave them."""

    course: Course
    ours: dict[str, dict[str, tuple[float | None, bool]]]


@pytest.fixture(scope="module")
def stock(tmp_path_factory) -> Stock:
    """Barbara is late by our notes, in time by her own; Grace hands in what nobody asked for; Ada comes afterwards."""
    folder = tmp_path_factory.mktemp("stock")
    ours = scores(graded_class(folder / "ours").course)
    course = new_course(folder / "course")
    for student in build_sample_class(course.root):
        if student not in STUDENTS:
            shutil.rmtree(course.submitted(student, "distilbert").parent)
    leave_out_shown(course.root, "distilbert")
    (course.root / "late_policy.toml").write_text(
        '[assignments.distilbert]\ndeadline = 2026-11-30T23:59:00Z\nper_day = "20%"\n'
    )
    (course.submitted("barbara", "distilbert") / "timestamp.txt").write_text("2026-11-01 00:00:00 UTC")
    record_times(course.root, "distilbert", {"barbara": LATE})
    submitted = course.submitted("grace", "distilbert")
    (course.root / "secret.txt").write_text("the instructor's")
    (submitted / "notes.txt").symlink_to(course.root / "secret.txt")
    (submitted / "sub").mkdir()
    (submitted / "sub" / "ipykernel_launcher.py").write_text("raise SystemExit('ours now')")
    done = nbgrader(course.root, "autograde", "distilbert")
    assert done.returncode == 0, done.said[-3000:]
    shutil.copytree(course.submitted("barbara", "distilbert"), course.submitted("ada", "distilbert"))
    return Stock(course, {student: ours[student] for student in STUDENTS})


@pytest.mark.slow
def test_nbgrader_autograde_gives_the_grades_of_autograder_grade(stock):
    assert scores(stock.course) == stock.ours
    assert {name: sum(score for score, _ in cells.values()) for name, cells in stock.ours.items()} == {
        name: EXPECTED[name] for name in STUDENTS
    }


@pytest.mark.slow
def test_what_a_submission_brings_along_is_not_copied_into_autograded(stock):
    left = {path.name for path in stock.course.autograded("grace", "distilbert").iterdir()}
    released = (stock.course.root / "release" / "distilbert").glob("*.ipynb")
    assert left == {*(path.name for path in released), "verdicts.json"}


@pytest.mark.slow
def test_nbgrader_autograde_stores_the_policys_penalty_and_not_the_students_time(stock):
    with Gradebook(stock.course.db_url) as gradebook:
        submission = gradebook.find_submission("distilbert", "barbara")
        stored = {one.name: (one.score, one.late_submission_penalty) for one in submission.notebooks}
        stored = {name: (score, late and round(late, 9)) for name, (score, late) in stored.items()}
        assert submission.timestamp == LATE.replace(tzinfo=None)
    assert stored == {
        "1_embedding": (5.0, 1.0),
        "2_attention_block": (20.0, 4.0),
        "3_model_assembly": (0.0, None),
        "4_attention_visualization": (0.0, None),
    }
    by_name = {row.student.id: row for row in gather(stock.course, "distilbert").rows}
    assert (by_name["barbara"].score, by_name["barbara"].state) == (pytest.approx(20.0), "graded")
    assert (by_name["ada"].score, by_name["ada"].state) == (None, "infrastructure")


def deleted(notebook):
    notebook["cells"].remove(at(notebook, "self_attention"))


def answer_renamed(notebook):
    at(notebook, "self_attention_answer")["metadata"]["nbgrader"]["grade_id"] = "my_answer"


DAMAGE = (deleted, answer_renamed, as_format_3)
ODD = [odd for odd in ODD_FILES if odd.id in {
    "escapes", "folder-as-notebook", "folder-and-notebook", "no-utf8-alone", "link-to-another", "folder-is-a-link",
    "other-capitals", "empty", "truncated",
}]  # fmt: skip


@pytest.fixture(scope="module")
def odd_class(tmp_path_factory) -> Course:
    """Two notebooks, and a class whose files are odd: nobody's is what nbgrader expects."""
    folder = tmp_path_factory.mktemp("stock") / "course"
    course = without_warm_modules(make_course(folder, 1, only="[13]_*", assignment=ASSIGNMENT))
    leave_out_shown(course.root, ASSIGNMENT)
    (course.root / "submitted" / "student0000").rename(course.root / "submitted" / "honest")
    honest = course.submitted("honest", ASSIGNMENT) / NAME
    content = honest.read_bytes()
    for odd in ODD:
        folder = course.submitted(odd.id, ASSIGNMENT)
        folder.mkdir(parents=True)
        odd.lay_out(folder, content)
    for damage in DAMAGE:
        notebook = json.loads(content)
        damage(notebook)
        folder = course.submitted(damage.__name__, ASSIGNMENT)
        folder.mkdir(parents=True)
        (folder / NAME).write_text(json.dumps(notebook))
    honest.write_bytes(b"")
    return course


@pytest.mark.slow
def test_odd_and_damaged_files_have_the_same_grades_under_stock_nbgrader(odd_class):
    other = Course(shutil.copytree(odd_class.root, odd_class.root.with_name("other"), symlinks=True))
    rows = grade_class(odd_class, GradingOptions(ASSIGNMENT, workers=2))
    failed = {row.student: row.failure for row in rows if row.failure}
    assert set(failed) == {odd.id for odd in ODD if odd.points is None}, failed
    done = nbgrader(other.root, "autograde", ASSIGNMENT)
    assert scores(other, assignment=ASSIGNMENT) == scores(odd_class, assignment=ASSIGNMENT)
    assert done.returncode == 1  # said aloud, and nobody has a zero for it
    assert all(f"for student '{student}'" in done.said for student in failed)

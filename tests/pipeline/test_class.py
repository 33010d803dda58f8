"""Grading a class: one row each, resume, manual grades, and one-line messages where nothing can be done."""

import json
import shutil

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom.run import GradingOptions, grade_class, row_of
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, NotebookVerdict, SubmissionVerdict
from tests.pipeline.conftest import SMALL, graded_class, small_course
from tools.demo import EXPECTED

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The sample class graded once, with what the pipeline reported on the way."""
    made = graded_class(tmp_path_factory.mktemp("graded") / "course")
    return made.course, made.rows, made.seen


@pytest.mark.slow
def test_every_sample_student_has_what_they_deserve(graded):
    _, rows, _ = graded
    assert {row.student: row.total for row in rows} == EXPECTED


@pytest.mark.slow
def test_the_table_tells_what_was_not_handed_in_from_what_failed(graded, capsys):
    course, _, _ = graded
    code, out, _ = run(course, capsys, "grade", "distilbert", "--student", "barbara", "--student", "edsger")
    assert code == 0
    barbara, edsger = (line for line in out.splitlines() if "barbara" in line or "edsger" in line)
    assert "not handed in: 3, 4" in barbara and "notes" not in barbara
    assert "not handed in" not in edsger and "notes" in edsger


def test_a_notebook_whose_written_answers_are_empty_was_handed_in():
    empty = (CellVerdict("why", "missing", 0.0, 2.0),)
    was_run = NotebookVerdict("ada", "toy", "1_run", empty, seconds=0.5)
    was_not = NotebookVerdict("ada", "toy", "2_not_there", empty)
    assert row_of(SubmissionVerdict("ada", "toy", (was_run, was_not))).missing == ("2_not_there",)


@pytest.mark.slow
def test_progress_counts_every_submission_once(graded):
    _, rows, seen = graded
    assert seen == list(range(len(rows) + 1))


@pytest.mark.slow
def test_a_second_run_grades_nothing_again_and_shows_the_same_points(graded):
    course, rows, _ = graded
    again = grade_class(course, GradingOptions("distilbert", workers=2))
    assert all(row.skipped for row in again)
    assert [row.points for row in again] == [row.points for row in rows]


@pytest.mark.slow
def test_the_verdicts_name_the_mistakes(graded):
    course, _, _ = graded
    verdicts = json.loads((course.autograded("grace", "distilbert") / "verdicts.json").read_text())
    named = {
        check["mistake"] for notebook in verdicts["notebooks"] for cell in notebook["cells"] for check in cell["checks"]
    }
    assert {"M11-product", "M1", "M14-list", "M15-softmax", "M17-sum"} <= named


def run(course: Course, capsys, *words: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error of ``autograder WORDS``."""
    code = cli.main(["--course", str(course.root), *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("grade", "distilbort"), "did you mean 'distilbert'"),
        (("grade", "distilbert"), "there is no submission to 'distilbert'"),
        (("grade", "distilbert", "--workers", "0"), "--workers must be at least 1"),
        (("grade", "distilbert", "--time-limit", "-1"), "--time-limit must be a number of seconds above 0"),
        (("feedback", "distilbert"), "run 'autograder grade distilbert' first"),
        (("references", "distilbort"), "unknown assignment"),
        (("release", "distilbort"), "unknown assignment"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_with_exit_code_2_and_nothing_is_written(
    course, capsys, words, message
):
    before = sorted(path for path in course.root.rglob("*") if path.is_file())
    code, out, error = run(course, capsys, *words)
    assert code == 2
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert "Traceback" not in out + error
    assert sorted(path for path in course.root.rglob("*") if path.is_file()) == before


def test_a_submission_folder_without_notebooks_is_named_with_exit_code_2(course, capsys):
    course.submitted("nobody", "distilbert").mkdir(parents=True)
    code, _, error = run(course, capsys, "grade", "distilbert")
    assert code == 2
    assert "holds no notebook of 'distilbert'" in error
    assert not (course.root / "autograded").exists()


@pytest.fixture
def small(tmp_path):
    """A course without torch, and a submission that nothing was written into."""
    course = small_course(tmp_path / "course")
    shutil.copytree(course.root / "release" / SMALL, course.submitted("noether", SMALL))
    return course


@pytest.mark.slow
def test_one_submission_that_cannot_be_read_does_not_stop_the_others(small, capsys):
    small.submitted("nobody", SMALL).mkdir(parents=True)
    code, out, _ = run(small, capsys, "grade", SMALL)
    assert code == 1
    assert "nobody" in out and "holds no notebook" in out
    with Gradebook(small.db_url) as gradebook:
        assert gradebook.find_submission(SMALL, "noether").score == 0


@pytest.mark.slow
def test_a_mark_given_by_hand_survives_grading_again_and_is_reported(small):
    grade_class(small, GradingOptions(SMALL))
    with Gradebook(small.db_url) as gradebook:
        gradebook.find_grade("softmax", "1_attention", SMALL, "noether").manual_score = 2.0
        gradebook.db.commit()
    (row,) = grade_class(small, GradingOptions(SMALL, students=("noether",), force=True))
    assert row.kept_manual == 1
    with Gradebook(small.db_url) as gradebook:
        grade = gradebook.find_grade("softmax", "1_attention", SMALL, "noether")
        assert (grade.score, grade.auto_score) == (2.0, 0.0)

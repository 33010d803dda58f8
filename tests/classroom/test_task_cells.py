"""What a person grades (text, code, nbgrader's tasks) counts in every sum, through the real stages."""

import shutil

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.ci.outcome import outcome_of
from autograder.classroom.rows import Row
from autograder.classroom.run import GradingOptions, grade_class
from autograder.feedback import write_feedback
from autograder.gradebook.gather import gather
from autograder.gradebook.results import StudentResult
from autograder.model.course import Course
from autograder.model.verdict import Graded
from autograder.nbgrader.exporters import _line
from autograder.pipeline.rebuild import prepare
from autograder.release.generate import generate
from autograder.report.statistics import read_results
from tests.feedback.toy import marks
from tests.grading import ROOT
from tests.pipeline.conftest import nbgrader

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tasks")]
V4 = nbformat.v4
SECRET = "Four points for a plot with labelled axes."
TASK = f"## Task · Draw it\n\nAdd cells below.\n\n=== BEGIN MARK SCHEME ===\n{SECRET}\n=== END MARK SCHEME ==="
STUB = "### BEGIN SOLUTION\nprint('mine')\n### END SOLUTION"


def instructor_notebook() -> NotebookNode:
    task = marks("draw", grade=False, solution=False, points=4)
    task["nbgrader"] |= {"task": True, "locked": True}  # type: ignore[operator]
    return V4.new_notebook(
        cells=[
            V4.new_markdown_cell("# Work for a person", id="intro"),
            V4.new_markdown_cell("Because.", id="a", metadata=marks("why", grade=True, solution=True, points=2)),
            V4.new_code_cell(STUB, id="b", metadata=marks("show", grade=True, solution=True, points=3)),
            V4.new_markdown_cell(TASK, id="c", metadata=task),
            V4.new_markdown_cell("That is all.", id="d"),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Course:
    """Ada answered everything and added two cells to the task."""
    root = tmp_path_factory.mktemp("tasks") / "course"
    (root / "source" / "work").mkdir(parents=True)
    nbformat.write(instructor_notebook(), root / "source" / "work" / "1_person.ipynb")
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, root)
    course = Course(root)
    generate(course, "work")
    hand_in(course, {"why": "It is so.", "show": "print(1 + 1)"}, ["x = 3", "print('a plot of', x)"])
    run(course)
    return course


@pytest.fixture
def course(graded, tmp_path) -> Course:
    return Course(shutil.copytree(graded.root, tmp_path / "course"))


def hand_in(course: Course, answers: dict[str, str], added: list[str]) -> None:
    notebook = nbformat.read(course.release("work") / "1_person.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    notebook.cells[4:4] = [V4.new_code_cell(text) for text in added]
    folder = course.submitted("ada", "work")
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / "1_person.ipynb")


def run(course: Course, force: bool = False) -> Row:
    (row,) = grade_class(course, GradingOptions("work", force=force, workers=1))
    return row


def ada(course: Course) -> StudentResult:
    (row,) = gather(course, "work").rows
    return row


def give(course: Course, **points: float) -> None:
    with Gradebook(course.db_url) as gradebook:
        for cell, number in points.items():
            grade = gradebook.find_grade(cell, "1_person", "work", "ada")
            grade.manual_score, grade.needs_manual_grade = number, False
        gradebook.db.commit()


def test_a_task_waits_for_a_person_and_counts_in_every_maximum(course):
    row = run(course)
    assert (row.max_points, row.waiting, row.failure) == ({"1_person": 9.0}, ("why", "show", "draw"), "")
    assert (ada(course).state, ada(course).max_points, Assignment.open(course, "work").max_points) == ("waiting", 9, 9)
    (page,) = write_feedback(course, "work", "ada")
    text = page.read_text(encoding="utf-8")
    assert "of 9 points so far. 3 exercises have no points yet" in text
    assert "Task · Draw it" in text and SECRET not in text
    assert read_results(course, "work").max_points == 9
    with Gradebook(course.db_url) as gradebook:
        assert gradebook.find_submission("work", "ada").max_score == 9


def test_marked_by_hand_every_place_has_the_same_sum(course):
    give(course, why=1.5, show=3, draw=2)
    assert (ada(course).state, ada(course).score) == ("graded", 6.5)
    row = run(course)
    assert (row.total, row.waiting, row.skipped) == (6.5, (), True)
    (page,) = write_feedback(course, "work", "ada")
    assert "<strong>6.5</strong> of 9 points" in page.read_text(encoding="utf-8")
    assert [verdict.points for verdict in read_results(course, "work").verdicts] == [6.5]
    with Gradebook(course.db_url) as gradebook:
        assert gradebook.find_submission("work", "ada").score == 6.5
        assert _line(gradebook.find_assignment("work"), ada(course), 9.0)[-4:] == [6.5, 0.0, 6.5, 9.0]


@pytest.mark.parametrize(
    ("answers", "added", "waiting"),
    [
        ({"why": "It is so.", "show": "print(1 + 1)"}, ["x = 3", "print('a plot of', x)"], set()),
        ({"why": "No.", "show": "print(1 + 1)"}, ["x = 3", "print('a plot of', x)"], {"why"}),
        ({"why": "It is so.", "show": "print(1 + 1)"}, ["x = 4", "print('a plot of', x)"], {"draw"}),
        ({"why": "It is so.", "show": "print(1 + 2)"}, ["x = 3", "print('a plot of', x)"], {"show", "draw"}),
    ],
    ids=["nothing", "the text", "a cell of the task", "the code that ran before the task"],
)
def test_graded_again_only_what_changed_waits(course, answers, added, waiting):
    give(course, why=1.5, show=3, draw=2)
    hand_in(course, answers, added)
    run(course, force=True)
    assert {cell for _, cell in ada(course).waiting} == waiting


def test_a_mark_scheme_is_neither_run_nor_shown_to_the_student(course):
    assignment = Assignment.open(course, "work")
    assert SECRET not in nbformat.writes(assignment.release["1_person"])
    submission = read_submission(course.submitted("ada", "work"), "ada", assignment)
    prepared = prepare(submission, assignment)
    assert not any(SECRET.encode() in data for data in prepared.files.values())
    saved = (course.autograded("ada", "work") / "1_person.ipynb").read_text(encoding="utf-8")
    assert SECRET in saved, "the grader reads it in the formgrader"


def test_ci_leaves_the_points_of_a_person_open(course):
    assignment = Assignment.open(course, "work")
    said = read_results(course, "work").rows[0].verdict
    assert said is not None
    outcome = outcome_of(Graded(said, {}, ()), assignment)
    assert (outcome.points, outcome.waiting, outcome.max_points, outcome.failure) == (0, 9, 9, "")


def test_nbgraders_own_autograde_asks_about_the_answer_that_changed_and_about_no_other(course):
    give(course, why=1.5, show=3, draw=2)
    hand_in(course, {"why": "No.", "show": "print(1 + 1)"}, ["x = 3", "print('a plot of', x)"])
    done = nbgrader(course.root, "autograde", "work", "--force")
    assert done.returncode == 0, done.said[-3000:]
    assert {cell for _, cell in ada(course).waiting} == {"why"}
    assert ada(course).points_so_far == 5

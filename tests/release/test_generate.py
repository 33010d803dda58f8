"""What stops a release is told whole, in one line; a notebook in another language that has no points stops nothing."""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.assignment.assignment import Assignment
from autograder.authoring.course_folder import EXAMPLE, make_course
from autograder.cli import main
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.release.generate import generate
from autograder.release.leaks.search import Hidden, found_in
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course

pytestmark = pytest.mark.slow


@pytest.fixture
def toy(tmp_path: Path) -> Course:
    return build_course(tmp_path / "course")


@pytest.mark.parametrize(
    ("schema", "more", "said"),
    [
        (
            1,
            "",
            ("use an old version of the nbgrader metadata format", "back up your class files", "nbgrader update ."),
        ),
        (3, "\n### BEGIN SOLUTION", (f"{NOTEBOOK}.ipynb", "no end solution statement found")),
    ],
)
def test_nbgraders_reason_is_told_whole(toy: Course, schema: int, more: str, said: tuple[str, ...]) -> None:
    path = toy.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].metadata["nbgrader"]["schema_version"] = schema
    notebook.cells[1].source += more
    nbformat.write(notebook, path)
    with pytest.raises(GradingError) as refused:
        generate(toy, ASSIGNMENT)
    reason = str(refused.value)
    assert all(words in reason for words in said), reason
    assert "\n" not in reason and "Please see the" not in reason


def test_our_own_reason_is_not_wrapped_into_nbgraders(toy: Course) -> None:
    helper = toy.source(ASSIGNMENT) / "helper.py"
    helper.write_text("def helped():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n")
    with pytest.raises(
        GradingError, match=r"helper\.py has solution markers.*students would get the solution"
    ) as refused:
        generate(Course(toy.root), ASSIGNMENT)
    assert "GradingError" not in str(refused.value)


def test_a_name_that_is_a_pattern_is_called_so(toy: Course) -> None:
    shutil.move(toy.source(ASSIGNMENT), toy.source("hw[1]"))
    with pytest.raises(GradingError, match=r"'hw\[1\]': it reads \*, \? and \[\] in a name as a pattern"):
        generate(Course(toy.root), "hw[1]")


R = {"kernelspec": {"display_name": "R", "language": "R", "name": "ir"}}


def _in_r(**marks: object) -> nbformat.NotebookNode:
    about = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False, **marks}
    answer = new_code_cell(
        "### BEGIN SOLUTION\nweighted_total <- sum(weights * values) / sum(weights)\n### END SOLUTION",
        metadata={"nbgrader": {**about, "solution": True, "grade_id": "total"}},
    )
    graded = new_code_cell("stopifnot(total > 0)", metadata={"nbgrader": {**about, "grade_id": "test_total"}})
    return new_notebook(cells=[new_markdown_cell("# In R"), answer, graded], metadata=R)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    make_course(tmp_path / "course")
    course = Course(tmp_path / "course")
    nbformat.write(_in_r(), course.source(EXAMPLE) / "2_in_r.ipynb")
    return course


def test_it_is_released_and_the_assignment_is_graded(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--course-dir", str(course.root)]
    assert main([*words, "release", EXAMPLE]) == 0
    said = capsys.readouterr()
    assert "note: signals/2_in_r.ipynb: it is not in Python" in said.out
    released = (course.release(EXAMPLE) / "2_in_r.ipynb").read_text()
    assert "# In R" in released and "weighted_total" not in released
    shutil.copytree(course.release(EXAMPLE), course.submitted("ada", EXAMPLE))
    assert main([*words, "grade", EXAMPLE]) == 0
    said = capsys.readouterr()
    assert "2_in_r" not in said.err + said.out


def test_one_with_points_is_still_named(course: Course) -> None:
    nbformat.write(_in_r(grade=True, locked=True, points=2), course.source(EXAMPLE) / "2_in_r.ipynb")
    with pytest.raises(GradingError, match=r"2_in_r\.ipynb is written in R"):
        Assignment.unreleased(course, EXAMPLE)


def test_an_assignment_of_nothing_else_is_named(course: Course) -> None:
    (course.source(EXAMPLE) / "1_smoothing.ipynb").unlink()
    with pytest.raises(GradingError, match=r"2_in_r\.ipynb is written in R"):
        Assignment.unreleased(course, EXAMPLE)


def test_a_solution_in_another_language_is_a_secret_too(course: Course, tmp_path: Path) -> None:
    (tmp_path / "hints").mkdir()
    (tmp_path / "hints" / "hint.md").write_text("weighted_total <- sum(weights * values) / sum(weights)")
    assert found_in(tmp_path / "hints", [Hidden.of(Assignment.unreleased(course, EXAMPLE))])


def test_a_comment_such_as_begin_tests_blocks_neither_release_nor_grading(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    path = course.source(EXAMPLE) / "1_smoothing.ipynb"
    (course.source(EXAMPLE) / "2_in_r.ipynb").unlink()
    notebook = nbformat.read(path, as_version=4)
    graded = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("points"))
    graded.source = f"### BEGIN TESTS\n{graded.source}"
    nbformat.write(notebook, path)
    words = ["--course-dir", str(course.root)]
    assert main([*words, "references", EXAMPLE]) == 0  # what mistakes hand over is made of the notebook's cells
    assert main([*words, "release", EXAMPLE]) == 0
    assert "'### BEGIN TESTS' is no marker of nbgrader's" in capsys.readouterr().out

"""``models.py`` is kept once, with its solution: what students get is made of it, and nothing else ever leaves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.deliverables import stub
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.publish.publish import publish
from autograder.release.generate import generate
from autograder.release.leaks.search import release_leaks
from tests.grading import ROOT
from tests.pipeline.conftest import nbgrader

LAB = "encoder_lab"
SOURCE, RELEASE = ROOT / "source" / LAB / "models.py", ROOT / "release" / LAB / "models.py"
WITHOUT = (
    "\nsteps = c.GenerateAssignment.preprocessors\n"
    "c.GenerateAssignment.preprocessors = [one for one in steps if one.__name__ != 'StubDeliverables']\n"
)


@pytest.fixture
def course(tmp_path) -> Course:
    """One notebook of the lab and its files."""
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, tmp_path)
    ignore = shutil.ignore_patterns("1_attention.ipynb", "2_encoder.ipynb", "__pycache__")
    shutil.copytree(ROOT / "source" / LAB, tmp_path / "source" / LAB, ignore=ignore)
    return Course(tmp_path)


def without_our_preprocessor(course: Course) -> None:
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + WITHOUT)


def test_the_released_file_is_the_stub_of_the_source():
    assert stub("models.py", SOURCE.read_bytes()) == RELEASE.read_bytes()


def test_an_assignment_s_files_are_those_of_students_and_its_solutions_are_apart():
    assignment = Assignment.open(ROOT, LAB)
    assert assignment.files["models.py"] == RELEASE.read_bytes()
    assert assignment.solutions == {"models.py": SOURCE.read_bytes()}


def test_nbgrader_s_own_command_releases_the_stub(course):
    done = nbgrader(course.root, "generate_assignment", LAB)
    assert done.returncode == 0, done.said[-2000:]
    assert (course.release(LAB) / "models.py").read_bytes() == RELEASE.read_bytes()
    assert (course.release(LAB) / "tests" / "test_models.py").is_file()


def test_a_release_of_ours_needs_no_preprocessor_for_it(course):
    without_our_preprocessor(course)
    assert (generate(course, LAB) / "models.py").read_bytes() == RELEASE.read_bytes()


def test_a_file_with_markers_that_is_not_named_stops_the_release(course):
    (course.source(LAB) / "helpers.py").write_text("### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n")
    with pytest.raises(GradingError, match=r"helpers.py has solution markers, but course.toml does not name it"):
        generate(course, LAB)
    assert not (course.release(LAB) / "helpers.py").exists()


def test_a_named_file_without_markers_stops_the_release(course):
    (course.source(LAB) / "models.py").write_text("class AttentionHead: ...\n")
    with pytest.raises(GradingError, match=r"models.py: students are to hand it in, but it has no"):
        generate(course, LAB)


def test_a_named_file_that_is_missing_is_one_line(course):
    (course.source(LAB) / "models.py").unlink()
    with pytest.raises(GradingError, match=r"course.toml names models.py as a file that students hand in"):
        Assignment.unreleased(course, LAB)


@pytest.mark.parametrize("released", ["as it is", "without its markers"])
def test_a_released_file_that_holds_the_solution_is_a_leak(tmp_path, released):
    folder = Path(shutil.copytree(ROOT / "release" / LAB, tmp_path / LAB))
    assert not list(release_leaks(folder, Assignment.open(ROOT, LAB)))
    text = SOURCE.read_text()
    marked = [line for line in text.split("\n") if " SOLUTION" not in line or released == "as it is"]
    (folder / "models.py").write_text("\n".join(marked))
    assert any("models.py" in str(leak) for leak in release_leaks(folder, Assignment.open(ROOT, LAB)))


def test_a_misspelt_marker_in_a_deliverable_is_a_leak(tmp_path):
    """Nobody takes out what stands between such lines."""
    folder = Path(shutil.copytree(ROOT / "release" / LAB, tmp_path / LAB))
    text = SOURCE.read_text().replace("### BEGIN SOLUTION", "### BEGIN SOLUTON", 1)
    text = text.replace("### END SOLUTION", "### END SOLUTON", 1)
    (folder / "models.py").write_bytes(stub("models.py", text.encode()))
    assert any("BEGIN SOLUTON" in str(leak) for leak in release_leaks(folder, Assignment.open(ROOT, LAB)))


def test_publish_refuses_a_released_file_that_holds_the_solution(course, tmp_path):
    """The release was made by nbgrader alone, with a configuration that has no preprocessor of ours."""
    without_our_preprocessor(course)
    assert nbgrader(course.root, "generate_assignment", LAB).returncode == 0
    assert b"BEGIN SOLUTION" in (course.release(LAB) / "models.py").read_bytes()
    with pytest.raises(GradingError, match="nothing was published: the release is not what the source makes of itself"):
        publish(course.root, tmp_path / "students")
    assert not (tmp_path / "students").exists()


def test_other_languages_keep_their_sign_of_a_comment():
    text = b"f <- function(x) {\n  ## BEGIN SOLUTION\n  x\n  ## END SOLUTION\n}\n"
    assert stub("filter.R", text) == b"f <- function(x) {\n  ## YOUR CODE HERE\n}\n"


@pytest.mark.parametrize(
    "text", ["### BEGIN SOLUTION\nx\n", "x\n### END SOLUTION\n", "### BEGIN SOLUTION\n### BEGIN SOLUTION\n"]
)
def test_a_marker_without_its_partner_is_one_line(text):
    with pytest.raises(GradingError, match=r"models.py"):
        stub("models.py", text.encode())

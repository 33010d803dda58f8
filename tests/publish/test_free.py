"""A free version: signatures and docstrings, made of the same source, graded by the same hidden cells."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.deliverables import stub
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.free import widened
from autograder.release.agreement import differences
from autograder.release.generate import generate
from autograder.release.verify import drafted
from tests.grading import ROOT, copy_exercises, kernels, leave_out_shown

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
GUIDED = '''class Block(nn.Module):
    """One block."""

    def __init__(self, config):
        # the sizes
        super().__init__()
        ### BEGIN SOLUTION
        self.q = 1
        ### END SOLUTION

        self.out = 2

    def forward(self, hidden_states, mask=None):
        """(batch, tokens, dim) -> the same shape"""
        def shape(x):
            return x

        ### BEGIN SOLUTION
        return shape(hidden_states)
        ### END SOLUTION
        # what stands behind

    def given(self):
        return self.out


### BEGIN SOLUTION
block = Block(1)
### END SOLUTION'''
FREE = '''class Block(nn.Module):
    """One block."""

    def __init__(self, config):
        ### BEGIN SOLUTION
        # the sizes
        super().__init__()
        self.q = 1

        self.out = 2
        ### END SOLUTION

    def forward(self, hidden_states, mask=None):
        """(batch, tokens, dim) -> the same shape"""
        ### BEGIN SOLUTION
        def shape(x):
            return x

        return shape(hidden_states)
        # what stands behind
        ### END SOLUTION

    def given(self):
        return self.out


### BEGIN SOLUTION
block = Block(1)
### END SOLUTION'''


def free(course: Course, *names: str) -> Course:
    path = course.root / "course.toml"
    listed = ", ".join(f'"{one}"' for one in names)
    path.write_text(f"free = [{listed}]\n{path.read_text()}")
    return Course(course.root)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("distilbert", "encoder_lab"):
        shutil.copytree(ROOT / "source" / name, tmp_path / "source" / name)
        copy_exercises(tmp_path, name)
    shutil.copytree(ROOT / "release", tmp_path / "release")
    return Course(tmp_path)


def test_a_gap_grows_to_the_whole_body_of_its_function():
    assert widened(GUIDED, BEGIN, END) == FREE


def test_a_free_version_is_widened_no_further():
    assert widened(FREE, BEGIN, END) == FREE


def test_the_course_s_own_markers_are_kept():
    own = GUIDED.replace(BEGIN, "ANSWER FROM").replace(END, "ANSWER TO")
    expected = FREE.replace(BEGIN, "ANSWER FROM").replace(END, "ANSWER TO")
    assert widened(own, "ANSWER FROM", "ANSWER TO") == expected


@pytest.mark.parametrize(
    "source",
    ["x = 1", "def f(x): return x", "### BEGIN SOLUTION\ny = 1\n### END SOLUTION", "def f(:\n### BEGIN SOLUTION\n"],
    ids=["no gap", "one line", "no function", "no Python"],
)
def test_what_has_nothing_to_free_stays(source):
    assert widened(source, BEGIN, END) == source


def test_a_magic_line_hides_no_function():
    assert widened(f"%matplotlib inline\n{GUIDED}", BEGIN, END) == f"%matplotlib inline\n{FREE}"


def test_a_signature_over_several_lines_stays_whole():
    source = "def f(\n    x,\n    y,\n):\n    z = x\n    ### BEGIN SOLUTION\n    return y\n    ### END SOLUTION"
    expected = "def f(\n    x,\n    y,\n):\n    ### BEGIN SOLUTION\n    z = x\n    return y\n    ### END SOLUTION"
    assert widened(source, BEGIN, END) == expected


def test_the_block_is_released_with_its_signatures_alone(course):
    course = free(course, "distilbert/2_attention_block")
    folder = generate(course, "distilbert")
    cells = nbformat.read(folder / "2_attention_block.ipynb", as_version=4).cells
    block = next(cell.source for cell in cells if cell.id == "attention-block-answer")
    assert "def __init__(self, config):" in block and "def forward(self, hidden_states" in block
    assert "def attention_scores(self, q, k):" in block and "LayerNorm(" not in block
    assert block.count("raise NotImplementedError()") == 4
    guided = (ROOT / "release/distilbert/1_embedding.ipynb").read_text()
    assert (folder / "1_embedding.ipynb").read_text() == guided


def test_source_and_a_free_release_agree_and_a_guided_one_does_not(course):
    before = Assignment.open(course, "distilbert")
    assert not [one for one in differences(course.root, before) if one.counts]
    course = free(course, "distilbert/2_attention_block")
    (said,) = [one for one in differences(course.root, before) if one.counts]
    assert str(said) == "2_attention_block.ipynb, cell 'attention_block_answer': code differs"
    generate(course, "distilbert")
    assert not list(differences(course.root, Assignment.open(course, "distilbert")))


def test_a_file_that_students_hand_in_can_be_free(course):
    course = free(course, "encoder_lab/models.py")
    folder = generate(course, "encoder_lab")
    written = (folder / "models.py").read_bytes()
    assert written == stub("models.py", (course.source("encoder_lab") / "models.py").read_bytes(), free=True)
    assert Assignment.open(course, "encoder_lab").files["models.py"] == written
    assert not list(differences(course.root, Assignment.open(course, "encoder_lab")))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("distilbert/2_block", r"distilbert/2_block is no notebook of distilbert .* expected, say, distilbert/1_"),
        ("distlbert/1_embedding", r"free: unknown assignment 'distlbert'; did you mean 'distilbert'\?"),
        ("encoder_lab/model.py", r"encoder_lab/model.py is no notebook of encoder_lab and no file that"),
    ],
)
def test_a_name_of_nothing_is_refused(course, name, said):
    with pytest.raises(GradingError, match=said):
        generate(free(course, name), name.partition("/")[0].replace("distl", "distil"))


def test_a_configuration_that_would_release_the_guided_version_is_refused(course):
    config = course.root / "nbgrader_config.py"
    others = "[one for one in c.GenerateAssignment.preprocessors if one.__name__ != 'FreeVersions']"
    config.write_text(f"{config.read_text()}\nc.GenerateAssignment.preprocessors = {others}\n")
    with pytest.raises(GradingError, match=r"does not have FreeVersions in the list .* the guided version"):
        generate(free(course, "distilbert/2_attention_block"), "distilbert")


def test_a_notebook_without_given_lines_has_nothing_to_free(course):
    path = course.source("distilbert") / "4_attention_visualization.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = "### BEGIN SOLUTION\nx = 1\n### END SOLUTION"
    nbformat.write(notebook, path)
    with pytest.raises(GradingError, match="no function there has given lines around a gap"):
        generate(free(course, "distilbert/4_attention_visualization"), "distilbert")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["distilbert"])  # the assignment whose notebooks give most lines
def test_every_assembly_of_an_assignment_can_be_free(course, name):
    """Untouched it has no points, the solution has all of them, and nothing leaks."""
    leave_out_shown(course.root, name)
    course = free(course, *(f"{name}/{one}" for one in ("2_attention_block", "3_model_assembly")))
    with drafted(course, name) as draft:
        assert [problem for one in draft.verify(kernels()) for problem in one.problems] == []

"""A free version: signatures and docstrings, made of the same source, graded by the same hidden cells."""

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.assignment.assignment import Assignment, stub
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.free import widened
from autograder.publish.publish import publish
from autograder.release.agreement import differences
from autograder.release.generate import generate
from autograder.release.leaks.search import release_leaks
from autograder.release.verify import drafted
from tests.grading import ROOT, copy_course, kernels, leave_out_shown
from tests.pipeline.conftest import nbgrader

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
    return copy_course(tmp_path, "distilbert", "encoder_lab")


SIGNATURE = "def f(\n    x,\n    y,\n):\n"
GAP = "    ### BEGIN SOLUTION\n"


@pytest.mark.parametrize(
    ("source", "wide"),
    [
        (GUIDED, FREE),
        (FREE, FREE),
        (f"%matplotlib inline\n{GUIDED}", f"%matplotlib inline\n{FREE}"),
        (
            f"{SIGNATURE}    z = x\n{GAP}    return y\n    ### END SOLUTION",
            f"{SIGNATURE}{GAP}    z = x\n    return y\n    ### END SOLUTION",
        ),
        ("x = 1", "x = 1"),
        ("def f(x): return x", "def f(x): return x"),
        ("### BEGIN SOLUTION\ny = 1\n### END SOLUTION", "### BEGIN SOLUTION\ny = 1\n### END SOLUTION"),
        ("def f(:\n### BEGIN SOLUTION\n", "def f(:\n### BEGIN SOLUTION\n"),
    ],
)
def test_a_gap_grows_to_the_whole_body_of_its_function_and_no_further(source, wide):
    assert widened(source, BEGIN, END) == wide


def test_the_course_s_own_markers_are_kept():
    own = GUIDED.replace(BEGIN, "ANSWER FROM").replace(END, "ANSWER TO")
    expected = FREE.replace(BEGIN, "ANSWER FROM").replace(END, "ANSWER TO")
    assert widened(own, "ANSWER FROM", "ANSWER TO") == expected


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


LAB = "encoder_lab"
SOURCE, RELEASE = ROOT / "source" / LAB / "models.py", ROOT / "release" / LAB / "models.py"
WITHOUT = (
    "\nsteps = c.GenerateAssignment.preprocessors\n"
    "c.GenerateAssignment.preprocessors = [one for one in steps if one.__name__ != 'StubDeliverables']\n"
)


@pytest.fixture
def lab(tmp_path) -> Course:
    """One notebook of the lab and its files."""
    lab = copy_course(tmp_path, LAB, stages=("source",))
    for name in ("1_attention", "2_encoder"):
        (lab.source(LAB) / f"{name}.ipynb").unlink()
    return lab


def without_our_preprocessor(lab: Course) -> None:
    config = lab.root / "nbgrader_config.py"
    config.write_text(config.read_text() + WITHOUT)


def test_the_released_file_is_the_stub_of_the_source():
    assert stub("models.py", SOURCE.read_bytes()) == RELEASE.read_bytes()


def test_an_assignment_s_files_are_those_of_students_and_its_solutions_are_apart():
    assignment = Assignment.open(ROOT, LAB)
    assert assignment.files["models.py"] == RELEASE.read_bytes()
    assert assignment.solutions == {"models.py": SOURCE.read_bytes()}


def test_nbgrader_s_own_command_releases_the_stub(lab):
    done = nbgrader(lab.root, "generate_assignment", LAB)
    assert done.returncode == 0, done.said[-2000:]
    assert (lab.release(LAB) / "models.py").read_bytes() == RELEASE.read_bytes()
    assert (lab.release(LAB) / "tests" / "test_models.py").is_file()


def test_a_release_of_ours_needs_no_preprocessor_for_it(lab):
    without_our_preprocessor(lab)
    assert (generate(lab, LAB) / "models.py").read_bytes() == RELEASE.read_bytes()


def test_a_file_with_markers_that_is_not_named_stops_the_release(lab):
    (lab.source(LAB) / "helpers.py").write_text("### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n")
    with pytest.raises(GradingError, match=r"helpers.py has solution markers, but course.toml does not name it"):
        generate(lab, LAB)
    assert not (lab.release(LAB) / "helpers.py").exists()


def test_a_named_file_without_markers_stops_the_release(lab):
    (lab.source(LAB) / "models.py").write_text("class AttentionHead: ...\n")
    with pytest.raises(GradingError, match=r"models.py: students are to hand it in, but it has no"):
        generate(lab, LAB)


def test_a_named_file_that_is_missing_is_one_line(lab):
    (lab.source(LAB) / "models.py").unlink()
    with pytest.raises(GradingError, match=r"course.toml names models.py as a file that students hand in"):
        Assignment.unreleased(lab, LAB)


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


def test_publish_refuses_a_released_file_that_holds_the_solution(lab, tmp_path):
    """The release was made by nbgrader alone, with a configuration that has no preprocessor of ours."""
    without_our_preprocessor(lab)
    assert nbgrader(lab.root, "generate_assignment", LAB).returncode == 0
    assert b"BEGIN SOLUTION" in (lab.release(LAB) / "models.py").read_bytes()
    with pytest.raises(GradingError, match="nothing was published: the release is not what the source makes of itself"):
        publish(lab.root, tmp_path / "students")
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

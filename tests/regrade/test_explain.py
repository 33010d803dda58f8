"""``autograder explain``: the instructor sees what came and what was expected, and no file does."""

from __future__ import annotations

import nbformat
import pytest

from autograder import cli
from autograder.model import cells
from autograder.references import loader
from tests.exercises.tiny import tiny_course
from tests.tree import modules

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The tiny course, released without its checks; ada squares, eve is right, bob hands in the stub."""
    root = tmp_path_factory.mktemp("explain") / "course"
    source = tiny_course(root).source["1_tiny"]
    answers = {"ada": "def double(x):\n    return x ** 2", "eve": "def double(x):\n    return x + x", "bob": ""}
    stub = "def double(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    for place, text in (("release/tiny", ""), *((f"submitted/{who}/tiny", text) for who, text in answers.items())):
        made = nbformat.from_dict(source)
        for cell in made.cells:
            if cells.is_solution(cell):
                cell.source = text or stub
            elif cells.is_graded(cell):
                cell.source = cells.split_hidden(cell.source).visible
        (root / place).mkdir(parents=True)
        nbformat.write(made, root / place / "1_tiny.ipynb")
    yield root
    loader.forget()


def files(root) -> set[str]:
    """All but what Python and this program leave behind wherever they run."""
    names = {str(path.relative_to(root)) for path in root.rglob("*") if "__pycache__" not in path.parts}
    return names - {".autograder", ".autograder/.gitignore"}


def explained(root, capsys, student: str, exercise: str = "doubled") -> str:
    code = cli.main(["--course-dir", str(root), "explain", student, "tiny", exercise, "--no-isolation"])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


def test_a_known_mistake_is_shown_with_both_answers(root, capsys):
    before = files(root)
    said = explained(root, capsys, "ada")
    assert "in        x: (5,) float64" in said
    assert "expected  doubled: (5,) float64 [" in said and "actual    doubled: (5,) float64 [" in said
    assert "largest difference:" in said and "mistake   squared" in said and "0 of 4 points (failed)" in said
    assert files(root) == before


def test_h8_the_students_code_and_the_test_are_shown(root, capsys):
    said = explained(root, capsys, "ada")
    assert "The student's answer, doubled_answer:\n    def double(x):\n        return x ** 2\n" in said
    assert "The test, as it is in the source:" in said and 'reference("tiny/doubled")' in said


def test_a_right_answer_and_none_at_all(root, capsys):
    assert "4 of 4 points (passed)" in (said := explained(root, capsys, "eve")) and "  right" in said
    assert "nothing came from the student's code" in explained(root, capsys, "bob")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody", "tiny", "doubled"), "no submission to 'tiny' by nobody"),
        (("ada", "tiny", "dubbled"), "expected one of the exercises 1_tiny/doubled, got 'dubbled'"),
    ],
)
def test_bad_input_is_one_line(root, capsys, words, said):
    assert cli.main(["--course-dir", str(root), "explain", *words, "--no-isolation"]) == 2
    assert said in capsys.readouterr().err


def test_nothing_that_students_get_imports_it():
    users = [path for path in modules("autograder") if "pipeline.explanation" in path.read_text()]
    assert [path.name for path in users] == ["explain.py"]

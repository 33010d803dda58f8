"""A graded cell that nobody can judge stops release, grade, ci and bundle with one line; it is never a zero."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.model import cells
from autograder.pipeline.execute import ExecutedNotebook
from autograder.pipeline.judge import judge
from autograder.release.judgeable import require_judgeable, unjudgeable, untested
from tests.grading import REFERENCES, ROOT
from tests.release.conftest import NOTEBOOK, SHEET, change

ASSERTS = "assert softmax(x).sum() > 0\n### BEGIN HIDDEN TESTS\nassert softmax(x).min() >= 0\n### END HIDDEN TESTS"
IMPORT = "from autograder import reference"
VISIBLE = f"{IMPORT}\nfor case in reference('numpy_attention/softmax'):\n    case.compare(y=1)"


def hidden(lines: str) -> str:
    return f"check.softmax(softmax)\n### BEGIN HIDDEN TESTS\n{lines}\n### END HIDDEN TESTS"


def loop(call: str, imported: str = IMPORT, body: str = "case.compare(y=softmax(case.x))") -> str:
    return hidden(f"{imported}\nfor case in {call}:\n    {body}")


@pytest.fixture(scope="module")
def opened() -> Assignment:
    return Assignment.open(ROOT, SHEET)


def found(opened: Assignment, source: str, **marks: object) -> list[str]:
    """What is said of the assignment whose cell 'softmax' has this source and these marks."""
    notebook = nbformat.from_dict(opened.source[NOTEBOOK])
    cell = next(cell for cell in notebook.cells if cells.grade_id(cell) == "softmax")
    cell.source = source
    cell.metadata.nbgrader.update(marks)
    return list(unjudgeable(replace(opened, source={**opened.source, NOTEBOOK: notebook})))


@pytest.mark.parametrize("sheet", ["distilbert", SHEET, "encoder_lab", "transformer_tutorial"])
def test_the_course_itself_can_be_judged(sheet: str) -> None:
    assert list(unjudgeable(Assignment.open(ROOT, sheet))) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("check.questions(own_code, softmax=softmax)", "its questions are not found"),
        (VISIBLE, "outside of '### BEGIN HIDDEN TESTS'"),
        (loop("reference('numpy_attention/sofmax')"), "numpy_attention/sofmax"),
        (loop("reference('distilbert/attention_scores')"), "belongs to another assignment"),
        (loop("reference(slug)"), "one literal name"),
        (loop("reference('numpy_attention/' + 'softmax')"), "one literal name"),
        (loop("reference()"), "one literal name"),
        (hidden("from autograder import reference\nrun(reference, softmax)\ncase.compare()"), "passed on"),
        (loop("reference('numpy_attention/softmax')", body="softmax(case.scores)"), "never call case.compare"),
        (loop("reference('numpy_attention/softmax')", body="case.compare(y=case.ids)"), "reads case.ids"),
        (loop("reference('numpy_attention/softmax'"), "hidden tests are no Python"),
        ("check.softmax(softmax\n" + loop("reference('numpy_attention/softmax')"), "no Python"),
    ],
)  # fmt: skip
def test_what_nobody_can_judge_is_said_with_notebook_and_cell(opened: Assignment, source: str, said: str) -> None:
    (line,) = found(opened, source)
    assert line.startswith("1_attention.ipynb, cell 'softmax': ") and said in line, line
    assert "\n" not in line


def test_a_running_course_with_a_cell_without_tests_is_graded_and_not_released(opened: Assignment) -> None:
    notebook = nbformat.from_dict(opened.source[NOTEBOOK])
    next(cell for cell in notebook.cells if cells.grade_id(cell) == "softmax").source = "# only a comment"
    changed = replace(opened, source={**opened.source, NOTEBOOK: notebook})
    require_judgeable(changed)
    (finding,) = untested(changed)  # stops a release, until it is accepted
    assert "no test in it" in finding.text and finding.digest and finding.blocks


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("from autograder import reference as stored", "stored('numpy_attention/softmax')"),
        ("from autograder.testing import reference as stored", "stored('numpy_attention/softmax')"),
        ("import autograder", "autograder.reference('numpy_attention/softmax')"),
        ("from autograder import reference", "reference(slug='numpy_attention/softmax')"),
        ("%matplotlib inline\nfrom autograder import reference", "reference('numpy_attention/softmax')"),
    ],
)
def test_a_reference_under_another_name_is_judged(opened: Assignment, imported: str, call: str) -> None:
    source = loop(call, imported, "case.compare(y=softmax(case.scores))")
    assert found(opened, source) == []
    assert cells.references_of(source) == ("numpy_attention/softmax",)


def test_a_reference_under_another_name_beside_a_plain_one_is_not_left_out() -> None:
    source = hidden("from autograder import reference, reference as r\nreference('a/b')\nr('a/c')")
    assert cells.references_of(source) == ("a/b", "a/c")


def test_two_cells_that_ask_for_one_reference_are_refused(opened: Assignment) -> None:
    (line,) = found(opened, loop("reference('numpy_attention/self_attention')", body="case.compare(y=1)"))
    assert "asks for 'numpy_attention/self_attention' too" in line


def test_a_reference_without_cases_or_without_files_is_refused(
    opened: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.release.judgeable.stored_cases", lambda assignment, slug: ())
    assert any("has no case" in line for line in unjudgeable(opened))
    monkeypatch.setattr("autograder.release.judgeable.stored_cases", lambda assignment, slug: {}["0/x"])
    assert any("cannot be read" in line and "autograder references" in line for line in unjudgeable(opened))


@pytest.mark.parametrize("points", [None, "two", -1, float("nan"), True])
def test_points_that_are_no_number_are_refused(opened: Assignment, points: object) -> None:
    source = loop("reference('numpy_attention/softmax')", body="case.compare(y=1)")
    (line,) = found(opened, source, points=points)
    assert "its points must be a number" in line


def test_a_cell_without_points_may_only_show_something(opened: Assignment) -> None:
    assert found(opened, ASSERTS, points=0) == []


def test_written_answers_and_tasks_are_read_by_a_human(opened: Assignment) -> None:
    assert found(opened, "Why?", solution=True) == []
    assert found(opened, "Why?", grade=False, task=True) == []


def test_should_such_a_cell_ever_reach_the_judge_it_has_no_grade(opened: Assignment, tmp_path: Path) -> None:
    notebook = nbformat.from_dict(opened.source[NOTEBOOK])
    for cell in notebook.cells:
        if cells.is_autograded(cell):
            cell.source = ASSERTS
    ran = ExecutedNotebook(notebook, (), tmp_path, 0.0, ())
    verdict = judge(ran, REFERENCES, student="ada", assignment=SHEET, notebook=NOTEBOOK)
    assert verdict.status == "infrastructure"
    assert {(cell.cell, cell.points) for cell in verdict.cells if cell.max_points} == {
        ("softmax", None), ("self_attention", None), ("multihead_attention", None)
    }  # fmt: skip
    assert {(cell.status, cell.points) for cell in verdict.cells if not cell.max_points} == {("passed", 0.0)}


@pytest.fixture(name="course")
def unjudgeable_course(course: Path) -> Path:
    """One of its cells asks for answers in its visible part, in the source and in the release."""
    for stage in ("source", "release"):
        change(course, stage, lambda by_id, notebook: by_id["softmax"].update(source=VISIBLE))
    return course


@pytest.mark.parametrize(
    "words",
    [
        ["grade", SHEET, "--workers", "1"],
        ["ci", SHEET, "submitted/ada/numpy_attention"],
        ["bundle", "gradescope", SHEET],
        ["release", SHEET],
    ],
    ids=lambda words: words[0],
)
def test_every_command_stops_with_one_line(
    course: Path, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course)
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    assert main(["--course", str(course), *words]) == 2
    said = capsys.readouterr().err
    assert "1_attention.ipynb, cell 'softmax'" in said and said.count("\n") == 1, said
    assert {path: path.read_bytes() for path in course.rglob("*") if path.is_file()} == before


# what a hidden test sets stays in the notebook's namespace: it must be nothing that the notebook itself uses

INNER = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def names_left(node: ast.AST) -> Iterator[str]:
    """The names that running the code sets, less those that live inside functions and comprehensions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield child.name
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif isinstance(child, ast.stmt | ast.expr) and not isinstance(child, INNER):
            yield from names_left(child)


def clashes(sources: list[str]) -> set[str]:
    """The names that hidden tests leave behind, and that other code of the cells uses or sets."""
    parts = [cells.split_hidden(source) for source in sources]
    left = {name for part in parts for name in names_left(cells.parse(part.hidden))}
    nodes = (node for part in parts for node in ast.walk(cells.parse(part.visible)))
    return left & {node.id for node in nodes if isinstance(node, ast.Name)}


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("source/*/*.ipynb")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_no_hidden_test_sets_a_name_that_the_notebook_uses(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert clashes([cell.source for cell in notebook.cells if cell.cell_type == "code"]) == set()


def test_a_name_that_a_hidden_test_leaves_behind_is_found() -> None:
    hidden = "### BEGIN HIDDEN TESTS\nfor case in reference('a'):\n    block = Block(case)\n### END HIDDEN TESTS"
    assert clashes([f"check.a(Block)\n{hidden}", "block(embeddings)"]) == {"block"}
    assert clashes([f"check.a(Block)\n{hidden}", "Block(embeddings)"]) == set()

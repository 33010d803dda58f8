"""Source and release are compared by content: what a grade depends on stops grading, a corrected text does not."""

from pathlib import Path

import pytest
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.errors import GradingError
from autograder.model import cells
from autograder.release.agreement import check_before_grading, differences
from tests.grading import ROOT
from tests.release.conftest import SHEET, Change, change, replace


def append(name: str, text: str) -> Change:
    def do(by_id: dict[str, NotebookNode], notebook: NotebookNode) -> None:
        by_id[name].source += text

    return do


def points(name: str, number: float) -> Change:
    return lambda by_id, notebook: by_id[name].metadata.nbgrader.update(points=number)


def remove(by_id: dict[str, NotebookNode], notebook: NotebookNode) -> None:
    notebook.cells = [cell for cell in notebook.cells if cells.grade_id(cell) != "multihead_attention"]


def swap(by_id: dict[str, NotebookNode], notebook: NotebookNode) -> None:
    notebook.cells.remove(by_id["softmax"])
    notebook.cells.append(by_id["softmax"])


def check(course: Path) -> None:
    check_before_grading(course, Assignment.open(course, SHEET))


@pytest.mark.parametrize("sheet", ["distilbert", SHEET, "encoder_lab", "transformer_tutorial"])
def test_the_committed_release_is_what_the_source_makes_of_itself(sheet: str) -> None:
    assert [str(one) for one in differences(ROOT, Assignment.open(ROOT, sheet))] == []


@pytest.mark.parametrize(
    ("do", "said"),
    [
        (points("softmax", 3), "cell 'softmax': points 3 in the source, 2 in the release"),
        (append("softmax", "\nprint(softmax)"), "cell 'softmax': code differs"),
        (append("imports", "\nimport json"), "cell 'imports': code differs"),
        (append("code", "\nimport json"), "code differs"),
        (remove, "cell 'multihead_attention': only in the release"),
        (swap, "another order"),
    ],
)
def test_what_a_grade_depends_on_stops_grading_with_the_command_that_mends_it(
    course: Path, do: Change, said: str
) -> None:
    change(course, "source", do)
    with pytest.raises(GradingError) as raised:
        check(course)
    assert said in str(raised.value)
    assert str(raised.value).endswith("run 'autograder release numpy_attention'")


@pytest.mark.parametrize(
    "do",
    [append("markdown", " A corrected typo."), append("imports", "  # a comment"), append("softmax", "\n# a comment")],
)
def test_a_corrected_text_is_mentioned_and_stops_nobody(
    course: Path, do: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    change(course, "source", do)
    check(course)
    said = capsys.readouterr().err
    assert "No grade depends on it" in said and said.count("\n") == 1


def test_a_corrected_hidden_test_or_solution_needs_no_release(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(course, "source", replace("softmax", "case.compare", "# corrected\n    case.compare"))
    check(course)
    assert capsys.readouterr().err == ""


def test_another_repository_stops_nobody(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = course / "course.toml"
    file.write_text(file.read_text().replace('repository = "example/', 'repository = "university/', 1))
    check(course)
    assert "No grade depends on it" in capsys.readouterr().err


def test_a_release_changed_by_hand_is_found(course: Path) -> None:
    change(course, "release", append("imports", "\nimport json"))
    with pytest.raises(GradingError, match="cell 'imports': code differs"):
        check(course)


@pytest.mark.parametrize(("name", "stops"), [("data.csv", True), ("helper.py", True), ("picture.png", False)])
def test_a_file_beside_the_notebooks_counts_where_code_can_read_it(course: Path, name: str, stops: bool) -> None:
    (course / "source" / SHEET / name).write_text("1")
    if stops:
        with pytest.raises(GradingError, match=name):
            check(course)
    else:
        check(course)


def test_nbgraders_own_reason_is_one_line(course: Path) -> None:
    change(course, "source", append("softmax_answer", "\n### BEGIN SOLUTION"))
    with pytest.raises(GradingError, match=r"cannot release 1_attention.ipynb: no end solution statement found$"):
        check(course)


def test_grading_refuses_points_that_were_changed_without_a_release(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(course, "source", points("softmax", 4))
    assert main(["--course", str(course), "grade", SHEET, "--workers", "1"]) == 2
    said = capsys.readouterr().err
    assert "points 4 in the source, 2 in the release" in said and said.count("\n") == 1
    assert not (course / "gradebook.db").exists()

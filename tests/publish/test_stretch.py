"""Folds with solutions of stretch goals: only where nothing is graded, and never with part of a graded answer."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.stretch import add_folds, stretch_answers
from autograder.release.leaks.search import expressions, graded_parts_in_folds
from autograder.release.leaks.secrets import secrets_of
from tests.grading import ROOT

SOLVED = "def twice(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"


def marked(grade_id: str, source: str, **marks: object) -> NotebookNode:
    given = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3, **marks}
    return new_code_cell(source, id=grade_id, metadata={"nbgrader": {"grade_id": grade_id, **given}})


def notebook(*cells: NotebookNode) -> NotebookNode:
    return new_notebook(cells=list(cells))


def answer(grade_id: str = "more_answer", source: str = SOLVED) -> NotebookNode:
    return marked(grade_id, source, solution=True)


def test_an_answer_is_a_stretch_goal_where_no_cell_of_its_section_is_graded() -> None:
    graded = marked("one", "check.one(one)", grade=True, locked=True, points=2)
    book = notebook(
        new_markdown_cell("## Exercise"), answer("one_answer"), new_markdown_cell("### Part"), graded,
        new_markdown_cell("### For those who want more"), answer("inner_answer"), new_code_cell("check.inner(inner)"),
        new_markdown_cell("## More"), answer(),
    )  # fmt: skip
    assert [cells.grade_id(book.cells[number]) for number in stretch_answers(book)] == ["inner_answer", "more_answer"]


def test_the_fold_stands_below_the_check_and_is_made_once() -> None:
    book = notebook(
        new_markdown_cell("## More"), answer(), new_markdown_cell("a hint"), new_code_cell("check.more(more)")
    )
    add_folds(add_folds(book))
    assert [cell.id for cell in book.cells[2:]][-1] == "more_answer-solution"
    assert len(book.cells) == 5
    fold = book.cells[-1].source
    assert fold.startswith("<details><summary>A solution</summary>") and "return 2 * x" in fold and "###" not in fold


@pytest.mark.parametrize(
    "source", ["def twice(x):\n    return x + x", "def twice(x):\n    raise NotImplementedError()"]
)
def test_what_a_student_wrote_gets_no_fold(source: str) -> None:
    assert len(add_folds(notebook(new_markdown_cell("## More"), answer(source=source))).cells) == 2


def test_an_author_can_leave_the_fold_out() -> None:
    more = answer()
    more.metadata["course"] = {"fold": False}
    assert len(add_folds(notebook(new_markdown_cell("## More"), more)).cells) == 2


def test_names_and_positions_do_not_hide_that_two_expressions_are_one() -> None:
    one = expressions("scores = queries @ keys[part].T / np.sqrt(d)")
    other = expressions("s = q @ k.T / np.sqrt(W_q.shape[1])")
    assert set(one) & set(other)
    assert not set(one) & set(expressions("s = q @ k / np.sqrt(W_q.shape[1])"))


def with_every_fold(name: str) -> Assignment:
    """The course's assignment as it would be if no author had left a fold out."""
    opened = Assignment.unreleased(Course(ROOT), name)
    books = {}
    for stem, book in opened.source.items():
        for cell in book.cells:
            cell.metadata.get("course", {}).pop("fold", None)
        books[stem] = add_folds(book)
    return replace(opened, source=books)


@pytest.mark.parametrize(
    ("assignment", "answers"),
    [
        ("numpy_attention", {"attention_in_blocks_answer", "slips_through_answer"}),
        ("distilbert", {"attention_gradient_answer", "padding_answer"}),
        ("decoder", {"mean_knock_out_answer"}),
    ],
)
def test_a_fold_that_would_show_part_of_a_graded_answer_is_reported(assignment: str, answers: set[str]) -> None:
    found = [str(finding) for finding in graded_parts_in_folds(with_every_fold(assignment))]
    assert {answer for answer in answers if any(f"'{answer}'" in one for one in found)} == answers


@pytest.mark.parametrize("assignment", sorted(path.name for path in (ROOT / "source").iterdir() if path.is_dir()))
def test_no_fold_of_the_course_shows_part_of_a_graded_answer(assignment: str) -> None:
    assert list(graded_parts_in_folds(Assignment.unreleased(Course(ROOT), assignment))) == []


def test_a_solution_in_a_fold_is_no_secret_and_a_graded_one_is() -> None:
    owners = {needle.owner for needle in secrets_of(Assignment.unreleased(Course(ROOT), "transformer_tutorial"))}
    assert not any("scores_gradient_answer" in owner for owner in owners)
    assert any("dot_product_attention_answer" in owner for owner in owners)


def test_released_notebooks_have_the_folds_and_no_other_solution() -> None:
    for path in (ROOT / "release").glob("*/*.ipynb"):
        book = nbformat.read(path, as_version=4)
        folds = [cell for cell in book.cells if "<summary>A solution</summary>" in cell.source]
        assert all(cell.cell_type == "markdown" for cell in folds)
        assert len(folds) <= len(stretch_answers(book)), path

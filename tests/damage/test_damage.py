"""Damage without intent: each ends in the grade that the undamaged work deserves, with a note."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from autograder.model.verdict import SubmissionVerdict
from tests.grading import assignment, filled, grade_submission

NAME = "2_attention_block"
FULL = 20.0
Notebook = dict


def submitted(change: Callable[[Notebook], object] = lambda notebook: None) -> SubmissionVerdict:
    """The verdict on notebook 2, solved, after ``change`` has been at the file; the other notebooks are missing."""
    notebook = json.loads(filled("distilbert", NAME, {}))
    change(notebook)
    return grade_submission("distilbert", {NAME: json.dumps(notebook).encode()}).verdict


def marks(cell: Notebook) -> dict:
    return cell["metadata"].get("nbgrader", {})


def position(notebook: Notebook, grade_id: str) -> int:
    return next(number for number, cell in enumerate(notebook["cells"]) if marks(cell).get("grade_id") == grade_id)


def cell(notebook: Notebook, grade_id: str) -> Notebook:
    return notebook["cells"][position(notebook, grade_id)]


def notes(verdict: SubmissionVerdict) -> str:
    return " ".join(note for notebook in verdict.notebooks if notebook.notebook == NAME for note in notebook.notes)


def deleted(notebook):
    del notebook["cells"][position(notebook, "attention_scores")]


def doubled(notebook):
    notebook["cells"].insert(0, dict(cell(notebook, "attention_scores")))


def renamed(notebook):
    marks(cell(notebook, "attention_scores"))["grade_id"] = "my_cell"


def answer_renamed(notebook):
    marks(cell(notebook, "attention_block_answer"))["grade_id"] = "my_answer"


def split(notebook):
    at = position(notebook, "attention_scores")
    first = notebook["cells"][at]
    lines = "".join(first["source"]) + "\nprint('a second half')"
    first["source"] = lines.split("\n")[0]
    half = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": "print('a second half')",
    }
    notebook["cells"].insert(at + 1, half)


def answer_split(notebook):
    at = position(notebook, "attention_block_answer")
    source = "".join(notebook["cells"][at]["source"])
    notebook["cells"][at]["source"] = "# first half\nimport math\n"
    half = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
    notebook["cells"].insert(at + 1, half)


def reordered(notebook):
    first, second = position(notebook, "attention_init"), position(notebook, "attention_context")
    cells = notebook["cells"]
    cells[first], cells[second] = cells[second], cells[first]


def turned_to_markdown(notebook):
    test = cell(notebook, "attention_weights")
    test["cell_type"] = "markdown"
    test.pop("outputs", None), test.pop("execution_count", None)


def answer_turned_to_markdown(notebook):
    answer = cell(notebook, "attention_block_answer")
    answer["cell_type"] = "markdown"
    answer.pop("outputs", None), answer.pop("execution_count", None)


def not_graded(notebook):
    marks(cell(notebook, "attention_weights"))["grade"] = False


def without_metadata(notebook):
    notebook["metadata"] = {}
    for one in notebook["cells"]:
        one["metadata"] = {}
        one.pop("id", None)


def as_format_3(notebook):
    cells = notebook.pop("cells")
    for one in cells:
        if one["cell_type"] == "code":
            one["input"], one["language"] = one.pop("source"), "python"
    notebook["worksheets"] = [{"cells": cells}]
    notebook["nbformat"] = 3


@pytest.mark.parametrize(
    ("damage", "note"),
    [
        (deleted, "was missing; it was put back"),
        (doubled, "was there 2 times"),
        (renamed, "which the assignment does not have"),
        (answer_renamed, "had lost its mark"),
        (split, ""),
        (answer_split, ""),
        (reordered, "put back in order"),
        (turned_to_markdown, "had become a markdown cell"),
        (answer_turned_to_markdown, ""),
        (not_graded, ""),
        (without_metadata, "had lost its mark"),
        (as_format_3, ""),
    ],
)
def test_a_damaged_notebook_has_the_points_of_the_undamaged_work(damage, note):
    verdict = submitted(damage)
    assert verdict.points == FULL
    assert note in notes(verdict)


@pytest.mark.parametrize(
    "addition",
    [
        "import sys, warnings\nwarnings.warn('careful')\nprint('careful', file=sys.stderr)",
        "float('nan')",
        "-3",
        "'twenty points, please'",
        "100",
        "raise RuntimeError('an unfinished experiment')",
    ],
)
def test_what_a_cell_prints_or_ends_with_neither_costs_nor_earns_points(addition):
    def change(notebook):
        source = "".join(cell(notebook, "attention_block_answer")["source"])
        cell(notebook, "attention_block_answer")["source"] = f"{source}\n\n{addition}"

    assert submitted(change).points == FULL


def test_a_test_cell_in_which_somebody_ended_with_a_number_counts_as_the_released_one():
    def change(notebook):
        cell(notebook, "attention_scores")["source"] = "20.0"

    verdict = submitted(change)
    assert verdict.points == FULL
    assert "had been changed" in notes(verdict)


def test_a_hundred_megabytes_of_outputs_do_not_matter():
    def change(notebook):
        flood = {"output_type": "stream", "name": "stdout", "text": "x" * (100 << 20)}
        cell(notebook, "attention_block_answer")["outputs"] = [flood]

    assert submitted(change).points == FULL


@pytest.mark.parametrize("data", [b"{broken", b"[]", b"", b"\xff\xfe\x00", b'{"cells": 3}', b"null"])
def test_a_file_that_is_no_notebook_is_said_so_and_costs_its_own_points_only(data):
    verdict = grade_submission("distilbert", {"1_embedding": data, NAME: filled("distilbert", NAME, {})}).verdict
    by_name = {notebook.notebook: notebook for notebook in verdict.notebooks}
    assert by_name["1_embedding"].points == 0
    assert "could not be read" in by_name["1_embedding"].notes[0]
    assert by_name[NAME].points == FULL


def test_a_missing_notebook_costs_its_own_points_only():
    verdict = grade_submission("distilbert", {NAME: filled("distilbert", NAME, {})}).verdict
    missing = [notebook for notebook in verdict.notebooks if notebook.notebook != NAME]
    assert verdict.points == FULL
    assert len(missing) == len(assignment("distilbert").source) - 1
    assert all(one.status == "missing" for notebook in missing for one in notebook.cells)

"""What the visible part of a graded cell said is told apart from what the judge wrote behind it."""

from __future__ import annotations

import nbformat
import pytest

from autograder.ci.outcome import Words, visible_check
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict
from autograder.pipeline.judge import write_into

TICK = "✓ weights: every row sums to 1\n"
WRONG = nbformat.v4.new_output(
    "error", ename="CheckFailed", evalue="weights: rows must sum to 1.\nYours do not.", traceback=["a long one"]
)
NAME = nbformat.v4.new_output("error", ename="NameError", evalue="name 'Block' is not defined", traceback=["x"])


def said(text: str):
    return nbformat.v4.new_output("stream", name="stdout", text=text)


def seen(outputs, status="failed"):
    """The visible check's outcome after the judge has written its verdict into the cell."""
    marks = {"grade": True, "solution": False, "locked": True, "grade_id": "weights", "points": 5}
    cell = nbformat.v4.new_code_cell("check.weights(Block)", outputs=outputs, metadata={"nbgrader": marks})
    points = {"passed": 5.0, "partial": 2.0}.get(status, 0.0)
    checks = () if status == "passed" else (Check("M1", False, "The hidden reason.", "The hidden hint."),)
    verdict = CellVerdict("weights", status, points, 5.0, checks)
    notebook = NotebookVerdict("ada", "distilbert", "2_block", (verdict,))
    return visible_check(write_into(nbformat.v4.new_notebook(cells=[cell]), notebook), verdict)


@pytest.mark.parametrize("status", ["passed", "partial", "failed", "crashed", "timeout"])
@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([said(TICK)], ("passed", TICK.strip())),
        ([said("my own print\n" + TICK)], ("passed", TICK.strip())),
        ([WRONG], ("failed", "weights: rows must sum to 1.\nYours do not.")),
        ([said(TICK), WRONG], ("failed", "weights: rows must sum to 1.\nYours do not.")),
        ([NAME], ("failed", "NameError: name 'Block' is not defined")),
        ([said("a print without a check\n")], ("silent", "")),
        ([], ("silent", "")),
    ],
    ids=["ticked", "printed and ticked", "wrong", "the second is wrong", "an error", "a print", "nothing"],
)
def test_the_visible_outcome_does_not_depend_on_the_verdict(outputs, expected, status):
    found = seen(outputs, status)
    assert (found.status, found.text) == expected


def test_a_notebook_that_was_never_run_says_why():
    verdict = CellVerdict(
        "weights", "missing", 0.0, 5.0, (Check("2_block", False, "2_block.ipynb was not handed in."),)
    )
    assert visible_check(None, verdict).text == "2_block.ipynb was not handed in."


def test_no_text_quotes_a_line_of_a_hidden_test():
    hidden = "block = AttentionBlock(case.config)"
    source = f"check.weights(Block)\n### BEGIN HIDDEN TESTS\n{hidden}\nx = 1\n### END HIDDEN TESTS"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    cleaned = Words([notebook]).clean(f"ValueError: {hidden} and check.weights(Block), x = 1")
    assert cleaned == "ValueError: [a line of the grader's own] and check.weights(Block), x = 1"

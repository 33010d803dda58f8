"""The lines of a mark scheme; what the formgrader's page of a submission gets added."""

from __future__ import annotations

import nbformat
import pytest
from traitlets.config import Config

from autograder.marking.exercises import RubricLine, rubric_lines
from autograder.nbgrader.formgrader import AskFirst


def test_lines_are_paragraphs_and_items_with_the_points_that_they_state() -> None:
    scheme = """An answer.
=== BEGIN MARK SCHEME ===
1 point for the axis, which
is the last one.

- half a point: says softmax
- the keys (1.5 points)
2. Two points if both.

No point for "an error": nothing fails.
=== END MARK SCHEME ==="""
    assert rubric_lines(scheme) == [
        RubricLine("1 point for the axis, which is the last one.", 1.0),
        RubricLine("half a point: says softmax", 0.5),
        RubricLine("the keys (1.5 points)", 1.5),
        RubricLine("Two points if both.", 2.0),
        RubricLine('No point for "an error": nothing fails.', 0.0),
    ]
    assert rubric_lines("An answer without a scheme. 1 point") == []


@pytest.mark.parametrize(("markdown", "shown"), [
    ("1 point for `[CLS]`: *why* it reads `x * y`, and ``a`b``", "1 point for [CLS]: why it reads x * y, and a`b"),
    ("**Both** `__init__` and _forward_ of `q_lin`", "Both __init__ and forward of q_lin"),
    ("snake_case, 2 * 3 * 4, a ` alone", "snake_case, 2 * 3 * 4, a ` alone"),
])  # fmt: skip
def test_a_line_has_no_marks_of_markdown(markdown: str, shown: str) -> None:
    scheme = f"=== BEGIN MARK SCHEME ===\n{markdown}\n=== END MARK SCHEME ==="
    assert [line.text for line in rubric_lines(scheme)] == [shown]


def test_a_line_may_say_something_else_to_the_student() -> None:
    scheme = "- 1 point: the axis is named. To the student: You say which axis.\n- half a point: an example"
    first, second = rubric_lines(f"=== BEGIN MARK SCHEME ===\n{scheme}\n=== END MARK SCHEME ===")
    assert (first.text, first.points, first.comment) == ("1 point: the axis is named.", 1.0, "You say which axis.")
    assert second.comment == second.text == "half a point: an example"
    assert (first.name, second.name) == ("the axis is named", "an example")


def test_a_page_of_one_submission_gets_the_script_that_asks_before_it_overwrites() -> None:
    for resources, added in (({"submission_id": "x"}, 1), ({}, 0)):
        page, _ = AskFirst(config=Config()).preprocess(nbformat.v4.new_notebook(), resources)  # type: ignore[arg-type]
        assert len(page.cells) == added

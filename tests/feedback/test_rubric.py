"""What the formgrader offers below a written answer: lines of the mark scheme, and comments given before, as text."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

from autograder.gradebook.read import EARLIER
from autograder.gradebook.remarks import remarks
from autograder.model.course import Course
from autograder.nbgrader.rubric import OFFERED, ShowRubric, page_part
from autograder.pipeline.rubric import RubricLine, rubric_lines
from tests.feedback import toy

pytestmark = pytest.mark.slow

HOSTILE = "</script><img src=x onerror=\"document.title='hacked'\"> $x$ $$ \\begin{a} & ' `a` <!-- \\u003c é"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = toy.build_course(tmp_path / "course")
    for student in ("ada", "grace"):
        toy.hand_in(course, student)
    return course


def say(course: Course, student: str, comment: str) -> None:
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_comment("why", toy.NOTEBOOK, toy.ASSIGNMENT, student).manual_comment = comment
        gradebook.db.commit()


def page(course: Course, **resources: object) -> str:
    """The formgrader's page of Ada's notebook, made as the formgrader makes it."""
    config = Config()
    config.CourseDirectory.root = str(course.root)
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    config.HTMLExporter.preprocessors = [ShowRubric]
    names = ("student", "last_name", "first_name", "notebook_path", "base_url", "submission_id")
    given = dict.fromkeys(names, "x") | {"assignment_id": toy.ASSIGNMENT, "notebook_id": toy.NOTEBOOK}
    given |= {"index": 0, "total": 1, **resources}
    notebook = course.autograded("ada", toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb"
    made, _ = HTMLExporter(config=config).from_filename(os.fspath(notebook), resources=given)
    return str(made)


def offered(html: str) -> list[dict[str, object]]:
    (found,) = re.findall(r"var OFFERED = (\[.*\]);\n", html)
    return list(json.loads(found))


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


def test_the_page_has_the_scheme_and_the_comments_of_everybody(course: Course) -> None:
    say(course, "ada", "Say which axis.\n\nGood.")
    say(course, "grace", f"Good.\n\n{toy.MARK_SCHEME}")
    (one,) = offered(page(course))
    assert one == {
        "cell": "why",
        "max": 2.0,
        "lines": [{"text": toy.MARK_SCHEME, "points": 2.0}],
        "before": ["Good.", "Say which axis."],
    }


def test_comments_about_earlier_answers_and_more_than_a_few_are_not_offered(course: Course) -> None:
    say(course, "ada", "\n\n".join(f"comment {number}" for number in range(OFFERED + 5)))
    say(course, "grace", f"{EARLIER}\nold")
    (one,) = offered(page(course))
    assert len(list(one["before"])) == OFFERED  # type: ignore[call-overload]
    assert "old" not in str(remarks(course.db_url, toy.ASSIGNMENT, toy.NOTEBOOK))


def test_no_text_ends_the_script_and_nothing_changes_it_on_the_way(course: Course) -> None:
    say(course, "grace", HOSTILE)
    html = page(course)
    (one,) = offered(html)
    assert one["before"] == [HOSTILE]
    part = page_part([one])
    assert part.count("</script>") == 1 and "<img" not in part and "$" not in part
    assert part.partition("<script>")[2] in html, "nbconvert passes the script on unchanged"


def test_only_the_formgraders_page_has_it() -> None:
    notebook, resources = ShowRubric(config=Config()).preprocess(toy.instructor_notebook(), {})  # type: ignore[arg-type]
    assert notebook == toy.instructor_notebook() and resources == {}


def test_without_a_release_the_page_is_as_it_was(course: Course) -> None:
    html = page(course, assignment_id="unknown")
    assert "var OFFERED" not in html and "Student's answer" in html

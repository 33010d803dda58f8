"""What a feedback page says, and what it must not say."""

from __future__ import annotations

import base64
import html
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGrader, NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from selenium.webdriver.chrome.webdriver import WebDriver

from autograder.errors import NothingToGrade
from autograder.feedback import render_notebook, without_hidden_tests, write_feedback
from autograder.feedback.body import mathml
from autograder.gradebook.late.policy import Lateness
from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult, result_of
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict
from tests.feedback import toy
from tests.feedback.browser import needs_browser, overflow

pytestmark = pytest.mark.slow


def page_of(course: Course, student: str) -> str:
    (path,) = write_feedback(course, toy.ASSIGNMENT, student)
    return path.read_text(encoding="utf-8")


def test_the_page_says_points_what_came_and_where_to_look(course: Course) -> None:
    toy.hand_in(course, "grace")
    page = page_of(course, "grace")
    assert "The rows are summed over axis 0." in page
    assert "Which axis holds the keys?" in page
    assert "Waits to be read by a person" in page
    assert re.search(r"<strong>0</strong> of 5 points", page)
    assert "return" in page and "x.sum" in re.sub(r"<[^>]+>", "", page), "the student's own code is there"


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 40).decode()


def test_a_figure_is_shown_with_its_words(course: Course) -> None:
    words = 'A "line" that rises & <b>falls</b>.'
    told = {"image/png": {"alt": words, "width": 70, "onload": "x"}}
    toy.hand_in(course, "draws", outputs=(nbformat.v4.new_output("display_data", {"image/png": PNG}, metadata=told),))
    page = page_of(course, "draws")
    assert html.escape(words, quote=True) in page and words not in page
    assert re.search(r'<img src="data:image/png;base64,[^"]*" alt="A &quot;line&quot;[^"]*" width="70">', page)


def test_words_of_a_figure_quote_no_hidden_test(course: Course) -> None:
    told = {"image/png": {"alt": f"In[-1] said: {toy.HIDDEN}"}}
    toy.hand_in(course, "quoting", outputs=(nbformat.v4.new_output("display_data", {"image/png": PNG}, metadata=told),))
    page = page_of(course, "quoting")
    assert "In[-1] said: [a line of the grader" in page and "secret-of-the-grader" not in page


def test_no_hidden_test_no_expected_value_no_model_answer(course: Course) -> None:
    quoting = nbformat.v4.new_output("stream", name="stdout", text=f"In[-1] said: {toy.HIDDEN}\n")
    toy.hand_in(course, "curious", outputs=(quoting,))
    saved = (course.autograded("curious", toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb").read_text(encoding="utf-8")
    assert toy.MODEL_ANSWER in saved and toy.MARK_SCHEME in saved, "the grader reads them in the formgrader"
    text = re.sub(r"<[^>]+>", "", page_of(course, "curious"))
    for secret in (
        "For the grader",
        "secret-of-the-grader",
        toy.EXPECTED,
        "HIDDEN TESTS",
        toy.MODEL_ANSWER,
        toy.MARK_SCHEME,
        "the-solution",
    ):
        assert secret not in text, secret
    assert "visible check" in text and "In[-1] said" in text


def test_a_short_hidden_line_does_not_blank_the_students_output() -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(
            "pass\n### BEGIN HIDDEN TESTS\nx = 1\n### END HIDDEN TESTS",
            metadata=toy.marks("a", grade=True, solution=False, points=1),
            outputs=[nbformat.v4.new_output("stream", name="stdout", text="x = 1\n")],
        )]
    )  # fmt: skip
    assert without_hidden_tests(notebook).cells[0].outputs[0].text == "x = 1\n"


def test_comments_and_points_by_hand_come_from_the_gradebook(course: Course) -> None:
    toy.hand_in(course, "noether")
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_comment(
            "row_sums_answer", toy.NOTEBOOK, toy.ASSIGNMENT, "noether"
        ).manual_comment = "Look <again> at $x$."
        why = gradebook.find_grade("why", toy.NOTEBOOK, toy.ASSIGNMENT, "noether")
        why.manual_score, why.needs_manual_grade = 1.5, False
        gradebook.find_grade("row_sums", toy.NOTEBOOK, toy.ASSIGNMENT, "noether").extra_credit = 0.25
        gradebook.db.commit()
    page = page_of(course, "noether")
    assert "Look &lt;again&gt; at $x$." in page
    assert "Graded by hand" in page
    assert re.search(r"<strong>1.75</strong> of 5 points", page)
    section = page[page.index('id="exercise-row_sums"') : page.index('id="exercise-why"')]
    assert "Look &lt;again&gt;" in section, "a comment on the answer stands at the exercise that it belongs to"


@pytest.mark.parametrize(("earned", "praised"), [(0.0, False), (1.5, True), (3.0, True)])
def test_what_is_right_is_said_only_where_it_earned_points(earned: float, praised: bool) -> None:
    """A part that got nothing is not told "right: weights"."""
    checks = (Check("weights", True), *([Check("output", False, "The values were left out.")] if earned < 3 else []))
    status = {0.0: "failed", 3.0: "passed"}.get(earned, "partial")
    cells = (CellVerdict("context", status, earned, 3.0, checks),)
    page = re.sub(r"<[^>]+>", "", render_notebook(None, NotebookVerdict("ada", "toy", "1_sums", cells)))
    assert ("right: weights" in page) == praised


def late(points: float, off: float) -> str:
    """The words of a page about one notebook of 3 points and a deduction."""
    verdict = NotebookVerdict("ada", "toy", "1_sums", (CellVerdict("row_sums", "passed", points, 3.0),))
    results = {("1_sums", "row_sums"): result_of(verdict.cells[0])}
    lateness = Lateness(1, points=off, reason="1 day late: 1 at 1 points")
    page = render_notebook(None, verdict, StudentResult(Student("ada"), results, lateness=lateness))
    return re.sub(r"<[^>]+>", "", page)


def test_what_is_earned_what_is_taken_off_and_what_counts_are_three_numbers() -> None:
    assert "2.75 of 3 points\n2.75 of 3 points earned, 1 taken off (1 day late: 1 at 1 points), 1.75 count." in late(
        2.75, 1
    )


def test_a_late_penalty_is_never_more_than_was_earned() -> None:
    assert "2 of 3 points earned, 2 taken off (1 day late: 1 at 1 points), 0 count." in late(2, 7)


def test_h4_a_file_that_was_not_handed_in_is_named_at_the_head_of_the_page() -> None:
    cells = (CellVerdict("a", "failed", 0.0, 3.0, (Check("a", False, "models.py was not handed in."),)),)
    page = render_notebook(None, NotebookVerdict("ada", "toy", "1_sums", cells, ("models.py was not handed in",)))
    head = page[: page.index("<main>")]
    assert "models.py was not handed in. What needs it has no points." in head
    assert "Models.py" not in page and "cost no points by themselves" not in page


def test_what_was_put_right_is_told_kindly(course: Course) -> None:
    toy.hand_in(course, "edsger", extra=())
    page = page_of(course, "edsger")
    assert "The protected cell &#39;row_sums&#39; was missing; it was put back." in page
    assert "cost no points by themselves" in page


def test_a_notebook_that_was_not_handed_in_still_gets_its_page() -> None:
    why = Check("1_sums", False, "1_sums.ipynb was not handed in.")
    verdict = NotebookVerdict("bob", "toy", "1_sums", (CellVerdict("row_sums", "missing", 0.0, 3.0, (why,)),), ())
    page = render_notebook(None, verdict)
    assert "1_sums.ipynb was not handed in." in page and "<article>" not in page


def test_every_word_from_outside_is_escaped() -> None:
    evil = "<script>document.title='hacked'</script>"
    check = Check(evil, False, evil, evil)
    cell = CellVerdict("row_sums", "failed", 0.0, 3.0, (check, Check(evil, True)))
    told = StudentResult(Student(evil), {(evil, "row_sums"): result_of(cell)}, {(evil, "row_sums"): evil})
    page = render_notebook(None, NotebookVerdict(evil, evil, evil, (cell,), (evil,)), told)
    assert "<script" not in page.lower()


def test_the_page_needs_nothing_from_anywhere(course: Course) -> None:
    toy.hand_in(course, "grace")
    page = page_of(course, "grace")
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=[\"'](?!data:image/|#|https?://|mailto:)", page)
    assert not re.search(r"<(script|link|iframe|object|embed)\b", page) and "url(" not in page and "@import" not in page


def test_formulas_are_rendered_without_a_script(course: Course) -> None:
    toy.hand_in(course, "grace")
    assert '<math display="inline">' in page_of(course, "grace")


@pytest.mark.parametrize(
    "tex",
    [r"\href{javascript:alert(1)}{x}", r"\text{<script>alert(1)</script>}", r"\frac{1", "x" * 5, r"\unknownmacro{x}"],
)
def test_a_formula_holds_nothing_but_mathml(tex: str) -> None:
    rendered = mathml(tex, display=False)
    assert rendered is None or not re.search(r"script|javascript|on\w+=", rendered)


def test_nothing_but_pages_stands_in_the_feedback_folder(course: Course, tmp_path: Path) -> None:
    toy.hand_in(course, "grace")
    secret = tmp_path / "secret.txt"
    secret.write_text("root:x")
    (course.autograded("grace", toy.ASSIGNMENT) / "link.txt").symlink_to(secret)
    write_feedback(course, toy.ASSIGNMENT, "grace")
    assert [path.name for path in course.feedback("grace", toy.ASSIGNMENT).rglob("*")] == [f"{toy.NOTEBOOK}.html"]


def test_a_student_who_was_not_graded_is_told_so_in_one_line(course: Course) -> None:
    with pytest.raises(NothingToGrade, match="no verdict for 'toy' yet"):
        write_feedback(course, toy.ASSIGNMENT, "nobody")


def test_nbgrader_generate_feedback_gives_the_same_page_and_no_other_file(course: Course, tmp_path: Path) -> None:
    toy.hand_in(course, "hopper")
    ours = page_of(course, "hopper")
    secret = tmp_path / "secret.txt"
    secret.write_text("root:x")
    (course.autograded("hopper", toy.ASSIGNMENT) / "link.txt").symlink_to(secret)
    command = [sys.executable, "-m", "nbgrader", "generate_feedback", toy.ASSIGNMENT, "--student", "hopper", "--force"]
    done = subprocess.run(
        command, cwd=course.root, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    folder = course.feedback("hopper", toy.ASSIGNMENT)
    assert [path.name for path in folder.rglob("*")] == [f"{toy.NOTEBOOK}.html"]
    assert (folder / f"{toy.NOTEBOOK}.html").read_text(encoding="utf-8").strip() == ours.strip()


def test_the_formgraders_button_gives_the_same_page(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.hand_in(course, "turing")
    ours = page_of(course, "turing")
    monkeypatch.chdir(course.root)
    application = NbGrader()
    application.load_config_file()
    directory = CourseDirectory(config=application.config)
    said = NbGraderAPI(directory, config=application.config).generate_feedback(toy.ASSIGNMENT, "turing")
    assert said["success"], said.get("error")
    folder = course.feedback("turing", toy.ASSIGNMENT)
    assert [path.name for path in folder.rglob("*")] == [f"{toy.NOTEBOOK}.html"]
    assert (folder / f"{toy.NOTEBOOK}.html").read_text(encoding="utf-8").strip() == ours.strip()


@needs_browser
def test_the_page_fits_a_telephone_and_a_wide_screen(course: Course, browser: WebDriver) -> None:
    wide = "<table><tr>" + "<td>a_long_column_name</td>" * 30 + "</tr></table>"
    outputs = (
        nbformat.v4.new_output("stream", name="stdout", text="0123456789" * 60 + "\n" + "word " * 200),
        nbformat.v4.new_output("display_data", data={"text/html": wide}),
    )
    check = Check("sums", False, "expected shape " + "(2, 7)" * 40, "a_name_without_any_space" * 8)
    cells = (CellVerdict("row_sums", "failed", 0.0, 3.0, (check,)), CellVerdict("why", "manual", None, 2.0))
    toy.hand_in(course, "wide", {"row_sums_answer": f"x = '{'y' * 400}'"}, outputs=outputs, cells=cells)
    (path,) = write_feedback(course, toy.ASSIGNMENT, "wide")
    browser.get_log("browser")  # what pages of other tests left there
    browser.get(path.as_uri())
    for width in (400, 1400):
        assert overflow(browser, width) == 0, width
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []

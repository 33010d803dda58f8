"""What a feedback page says, and what it must not say."""

import base64
import html
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGrader, NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from selenium.webdriver.chrome.webdriver import WebDriver

from autograder.assignment.assignment import Assignment
from autograder.errors import NothingToGrade
from autograder.feedback import render_notebook, without_hidden_tests, write_feedback
from autograder.feedback.page import mathml
from autograder.gradebook.late.policy import Lateness
from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult, result_of
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict
from autograder.nbgrader.exporters import FeedbackExporter
from autograder.pipeline.fingerprint import content_parts
from autograder.release.generate import generate
from tests.feedback import toy
from tests.feedback.browser import needs_browser, overflow

pytestmark = pytest.mark.slow


def page_of(course: Course, student: str) -> str:
    (path,) = write_feedback(course, toy.ASSIGNMENT, student)
    return path.read_text(encoding="utf-8")


def test_the_page_says_points_what_came_and_where_to_look_and_needs_nothing_from_anywhere(course: Course) -> None:
    toy.hand_in(course, "grace")
    page = page_of(course, "grace")
    for words in (
        "The rows are summed over axis 0.", "Which axis holds the keys?", "Waits to be read by a person",
        "<strong>0</strong> of 5 points", '<math display="inline">', "default-src 'none'",
    ):  # fmt: skip
        assert words in page, words
    assert "return" in page and "x.sum" in re.sub(r"<[^>]+>", "", page), "the student's own code is there"
    assert not re.search(r"(src|href)=[\"'](?!data:image/|#|https?://|mailto:)", page)
    assert not re.search(r"<(script|link|iframe|object|embed)\b", page) and "url(" not in page and "@import" not in page


def test_a_figure_is_shown_with_its_words_which_quote_no_hidden_test(course: Course) -> None:
    words = 'A "line" that rises & <b>falls</b>.'
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 40).decode()
    outputs = tuple(
        nbformat.v4.new_output("display_data", {"image/png": png}, metadata={"image/png": told})
        for told in ({"alt": words, "width": 70, "onload": "x"}, {"alt": f"In[-1] said: {toy.HIDDEN}"})
    )
    toy.hand_in(course, "draws", outputs=outputs)
    page = page_of(course, "draws")
    assert html.escape(words, quote=True) in page and words not in page
    assert re.search(r'<img src="data:image/png;base64,[^"]*" alt="A &quot;line&quot;[^"]*" width="70">', page)
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


@pytest.mark.parametrize(("earned", "praised"), [(0.0, False), (1.5, True), (3.0, False)])
def test_what_is_right_is_said_where_a_part_of_it_is(earned: float, praised: bool) -> None:
    """A part that got nothing is not told "right: weights", and where all is right the words say so."""
    checks = (Check("weights", True), *([Check("output", False, "The values were left out.")] if earned < 3 else []))
    status = {0.0: "failed", 3.0: "passed"}.get(earned, "partial")
    cells = (CellVerdict("context", status, earned, 3.0, checks),)
    page = re.sub(r"<[^>]+>", "", render_notebook(None, NotebookVerdict("ada", "toy", "1_sums", cells)))
    assert ("right: weights" in page) == praised


def test_what_nobody_had_to_answer_is_not_told_to_be_wrong() -> None:
    cells = (CellVerdict("optional", "failed", 0.0, 0.0, (Check("optional", False, "Not filled in yet."),)),)
    page = render_notebook(None, NotebookVerdict("ada", "toy", "1_sums", cells))
    assert "No points depend on it" in page and "Not right yet" not in page and '"exercise failed"' not in page


@pytest.mark.parametrize(
    ("points", "off", "said"),
    [
        (2.75, 1, "1.75 of 3 points\n2.75 of 3 points earned, 1 taken off (1 day late: 1 at 1 points), 1.75 count."),
        (2, 7, "2 of 3 points earned, 2 taken off (1 day late: 1 at 1 points), 0 count."),
    ],
)
def test_what_is_earned_what_is_taken_off_and_what_counts_are_three_numbers(
    points: float, off: float, said: str
) -> None:
    verdict = NotebookVerdict("ada", "toy", "1_sums", (CellVerdict("row_sums", "passed", points, 3.0),))
    results = {("1_sums", "row_sums"): result_of(verdict.cells[0])}
    lateness = Lateness(1, points=off, reason="1 day late: 1 at 1 points")
    page = render_notebook(None, verdict, StudentResult(Student("ada"), results, lateness=lateness))
    assert said in re.sub(r"<[^>]+>", "", page)


def test_a_file_that_was_not_handed_in_is_named_at_the_head_of_the_page() -> None:
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


@pytest.mark.parametrize(
    "tex",
    [r"\href{javascript:alert(1)}{x}", r"\text{<script>alert(1)</script>}", r"\frac{1", "x" * 5, r"\unknownmacro{x}"],
)
def test_a_formula_holds_nothing_but_mathml(tex: str) -> None:
    rendered = mathml(tex, display=False)
    assert rendered is None or not re.search(r"script|javascript|on\w+=", rendered)


def test_a_student_who_was_not_graded_is_told_so_in_one_line(course: Course) -> None:
    with pytest.raises(NothingToGrade, match="no verdict for 'toy' yet"):
        write_feedback(course, toy.ASSIGNMENT, "nobody")


def by_command(course: Course) -> None:
    command = [sys.executable, "-m", "nbgrader", "generate_feedback", toy.ASSIGNMENT, "--student", "hopper", "--force"]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]


def by_button(course: Course) -> None:
    """As the formgrader does it, in the course's folder."""
    application = NbGrader()
    application.load_config_file()
    directory = CourseDirectory(config=application.config)
    said = NbGraderAPI(directory, config=application.config).generate_feedback(toy.ASSIGNMENT, "hopper")
    assert said["success"], said.get("error")


@pytest.mark.parametrize("generate_feedback", [by_command, by_button])
def test_nbgrader_gives_the_same_page_and_no_other_file(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generate_feedback: Callable[[Course], None]
) -> None:
    toy.hand_in(course, "hopper")
    secret = tmp_path / "secret.txt"
    secret.write_text("root:x")
    (course.autograded("hopper", toy.ASSIGNMENT) / "link.txt").unlink(missing_ok=True)
    (course.autograded("hopper", toy.ASSIGNMENT) / "link.txt").symlink_to(secret)
    folder = course.feedback("hopper", toy.ASSIGNMENT)
    ours = page_of(course, "hopper")
    assert [path.name for path in folder.rglob("*")] == [f"{toy.NOTEBOOK}.html"]
    monkeypatch.chdir(course.root)
    generate_feedback(course)
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


PLACEHOLDER, REPOSITORY = "example/transformer-course", "uni/their-course"
BADGE = f"[Open in Colab](https://colab.research.google.com/github/{PLACEHOLDER}/blob/main/1_sums.ipynb)"


def name_repository(course: Course) -> Course:
    path = course.root / "course.toml"
    text = path.read_text()
    path.write_text(text.replace(f'repository = "{PLACEHOLDER}"', f'repository = "{REPOSITORY}"'))
    return Course(course.root)


@pytest.fixture
def badged(tmp_path) -> Course:
    """Its notebook has a badge and a setup cell; nobody has named the repository yet."""
    made = toy.build_course(tmp_path / "course")
    notebook = toy.instructor_notebook()
    setup = nbformat.v4.new_code_cell(f'REPOSITORY = "{PLACEHOLDER}"\nprint(REPOSITORY)', id="setup")
    for cell in notebook.cells:  # the toy's exercise has no stored reference
        cell.source = cell.source.replace('reference("toy/row_sums")', "[]")
    notebook.cells[:0] = [nbformat.v4.new_markdown_cell(BADGE, id="badge"), setup]
    nbformat.write(notebook, made.source(toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb")
    generate(made, toy.ASSIGNMENT)
    return made


def test_feedback_and_formgrader_lead_to_the_courses_repository(badged):
    course = name_repository(badged)
    generate(course, toy.ASSIGNMENT)
    toy.hand_in(course, "ada")
    (page,) = write_feedback(course, toy.ASSIGNMENT, "ada")
    shown_by_the_formgrader = course.autograded("ada", toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb"
    for path in (page, shown_by_the_formgrader, course.release(toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb"):
        text = path.read_text()
        assert PLACEHOLDER not in text and REPOSITORY in text, path


def test_a_repository_that_is_named_after_grading_is_on_the_pages_and_grades_nobody_again(badged, monkeypatch):
    toy.hand_in(badged, "ada")
    before = content_parts(Assignment.open(badged, toy.ASSIGNMENT))
    course = name_repository(badged)
    (page,) = write_feedback(course, toy.ASSIGNMENT, "ada")
    assert PLACEHOLDER not in page.read_text() and REPOSITORY in page.read_text()
    generate(course, toy.ASSIGNMENT)
    assert content_parts(Assignment.open(course, toy.ASSIGNMENT)) == before

    monkeypatch.chdir(course.root)
    notebook = nbformat.read(course.autograded("ada", toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb", as_version=4)
    names = {"student": "ada", "assignment": toy.ASSIGNMENT, "notebook": toy.NOTEBOOK}
    page, _ = FeedbackExporter().from_notebook_node(notebook, {"nbgrader": names})
    assert PLACEHOLDER not in page and REPOSITORY in page

"""The formgrader beside another grader: what somebody has stored meanwhile is not overwritten without a question."""

from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions as seen

from autograder.model.course import Course
from tests.browser.formgrader import Formgrader
from tests.browser.jupyter import Server, jupyter_server
from tests.feedback import toy
from tests.feedback.browser import needs_browser
from tests.grading import copy_course, filled, solution

pytestmark = [pytest.mark.slow, needs_browser]
REMARK = "Say which axis."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    course = toy.build_course(tmp_path_factory.mktemp("course"))
    toy.hand_in(course, "ada")
    with jupyter_server(course.root, tmp_path_factory.mktemp("home")) as running:
        yield running


def store(course: Course, student: str, points: float, comment: str) -> None:
    with Gradebook(course.db_url) as gradebook:
        place = ("why", toy.NOTEBOOK, toy.ASSIGNMENT, student)
        gradebook.find_grade(*place).manual_score = points
        gradebook.find_comment(*place).manual_comment = comment
        gradebook.db.commit()


def stored(course: Course, student: str) -> tuple[float | None, str | None]:
    with Gradebook(course.db_url) as gradebook:
        place = ("why", toy.NOTEBOOK, toy.ASSIGNMENT, student)
        return gradebook.find_grade(*place).manual_score, gradebook.find_comment(*place).manual_comment


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_another_grader_stored_is_not_overwritten_without_a_question(
    browser: WebDriver, server: Server, overwrite: bool
) -> None:
    course, page = Course(server.folder), Formgrader(browser, server)
    store(course, "ada", 1.0, REMARK)
    with Gradebook(course.db_url) as gradebook:
        ada = gradebook.find_submission_notebook(toy.NOTEBOOK, toy.ASSIGNMENT, "ada").id
    page.open(f"submissions/{ada}/")
    page.wait.until(lambda _: page.field("why").get_attribute("value") == "1")
    store(course, "ada", 1.5, REMARK)
    field = page.field("why")
    field.send_keys(Keys.CONTROL, "a", Keys.NULL, "0.5", Keys.TAB)
    question = page.wait.until(seen.alert_is_present(), "nobody asked")
    assert "manual score: 1.5" in question.text
    question.accept() if overwrite else question.dismiss()
    expected = 0.5 if overwrite else 1.5
    page.wait.until(lambda _: stored(course, "ada") == (expected, REMARK))
    page.wait.until(lambda _: field.get_attribute("value") == str(expected))


SHEET = "numpy_attention"
STUDENT = "grace"
AUTOMATIC: dict[str, tuple[float | None, float | None, bool]] = {
    "softmax": (0.0, None, False),
    "self_attention": (5.0, None, False),
    "multihead_attention": (5.0, None, False),
    "no_loops": (0.0, None, False),
    "classifier_on_top": (1.0, None, False),
    "text_preparation": (1.0, None, False),
    "special_tokens": (1.0, None, False),
    "roles": (None, None, True),
    "pretraining": (1.0, None, False),
    "intuition": (None, None, True),
    "written_tests": (5.0, None, False),
}
ROLES = """\
Without `[CLS]` the classifier reads the vector of the first *word*, which has its own word to stand for.
Without `[SEP]` nobody knows where the first sentence ends."""
INTUITION = "It has read a lot already, so it only has to learn what the four categories are."
COMMENT = "Right about the first word. And what did pre-training teach [CLS] to do?"


@pytest.fixture(scope="module")
def first_week(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A course in its first week: sources and configuration, nothing released, no gradebook."""
    folder = tmp_path_factory.mktemp("course") / "course"
    copy_course(folder, SHEET, stages=("source",))
    with jupyter_server(folder, tmp_path_factory.mktemp("home")) as running:
        yield running


def hand_in(course: Course) -> None:
    """Grace's softmax is not normalised; the other code is right, and her written answers wait for the instructor."""
    folder = course.submitted(STUDENT, SHEET)
    folder.mkdir(parents=True, exist_ok=True)
    softmax = solution(SHEET, "1_attention", "softmax_answer")
    own = {
        "1_attention": {"softmax_answer": f"{softmax}\n\ndef softmax(x, axis=-1):\n    return np.exp(x)\n"},
        "2_finetuning": {"roles": ROLES, "intuition": INTUITION},
        "3_write_tests": {},
    }
    for notebook, answers in own.items():
        (folder / f"{notebook}.ipynb").write_bytes(filled(SHEET, notebook, answers))
    # what nbgrader's exchange puts beside a submission when it collects it
    (folder / "timestamp.txt").write_text("2026-11-01 12:00:00.000000 UTC")
    (folder / "submission_secret.txt").write_text("a secret of this submission")


def test_a_instructors_day_in_the_formgrader(browser: WebDriver, first_week: Server) -> None:
    course = Course(first_week.folder)
    page = Formgrader(browser, first_week)
    page.press(SHEET, "assign")
    released = sorted(path.name for path in (first_week.folder / "release" / SHEET).glob("*.ipynb"))
    assert released == ["1_attention.ipynb", "2_finetuning.ipynb", "3_write_tests.ipynb"]

    hand_in(course)
    page.open(f"manage_submissions/{SHEET}")
    page.press(STUDENT, "autograde")
    assert page.row(STUDENT).find_element(By.CSS_SELECTOR, ".status").text == "needs manual grading"
    assert scores(course) == AUTOMATIC
    assert (course.autograded(STUDENT, SHEET) / "verdicts.json").exists()

    page.open(f"gradebook/{SHEET}/2_finetuning")
    page.row("Submission #1").find_element(By.LINK_TEXT, "Submission #1").click()
    guides = [quote.text for quote in browser.find_elements(By.TAG_NAME, "blockquote")]
    assert sum(guide.startswith("For the grader (2 points)") for guide in guides) == 2
    page.write("intuition", "2")
    page.write("roles", "1.5")
    page.write("roles-comment", COMMENT)
    by_hand = {"roles": (None, 1.5, False), "intuition": (None, 2.0, False)}
    assert scores(course) == {**AUTOMATIC, **by_hand}

    page.open(f"manage_submissions/{SHEET}")
    row = page.row(STUDENT)
    assert row.find_element(By.CSS_SELECTOR, ".status").text == "graded"
    assert row.find_element(By.CSS_SELECTOR, ".score").text == "22.5 / 25"
    page.press(STUDENT, "generate-feedback")
    assert COMMENT in (first_week.folder / "feedback" / STUDENT / SHEET / "2_finetuning.html").read_text(
        encoding="utf-8"
    )

    page.open(f"manage_submissions/{SHEET}")
    page.press(STUDENT, "release-feedback")
    assert len(list((first_week.exchange / "transformers" / "feedback").glob("*.html"))) == 3


def scores(course: Course) -> dict[str, tuple[float | None, float | None, bool]]:
    """cell -> (automatic score, score by hand, waits for a human)"""
    with Gradebook(course.db_url) as gradebook:
        submission = gradebook.find_submission(SHEET, STUDENT)
        return {
            grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }

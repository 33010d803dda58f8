"""An instructor in the formgrader: release, autograde, read, mark a written answer, comment, feedback."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By

from autograder.model.course import Course
from tests.browser.formgrader import Formgrader
from tests.browser.jupyter import Server, jupyter_server
from tests.feedback.browser import needs_browser
from tests.grading import copy_exercises, filled, solution
from tests.pipeline.conftest import ROOT

pytestmark = [pytest.mark.slow, needs_browser]

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
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A course in its first week: sources and configuration, nothing released, no gradebook."""
    folder = tmp_path_factory.mktemp("course") / "course"
    shutil.copytree(ROOT / "source" / SHEET, folder / "source" / SHEET)
    copy_exercises(folder, SHEET)
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, folder)
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


def test_a_instructors_day_in_the_formgrader(browser: WebDriver, server: Server) -> None:
    course = Course(server.folder)
    page = Formgrader(browser, server)
    page.press(SHEET, "assign")
    released = sorted(path.name for path in (server.folder / "release" / SHEET).glob("*.ipynb"))
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
    assert COMMENT in (server.folder / "feedback" / STUDENT / SHEET / "2_finetuning.html").read_text(encoding="utf-8")

    page.open(f"manage_submissions/{SHEET}")
    page.press(STUDENT, "release-feedback")
    assert len(list((server.exchange / "transformers" / "feedback").glob("*.html"))) == 3


def scores(course: Course) -> dict[str, tuple[float | None, float | None, bool]]:
    """cell -> (automatic score, score by hand, waits for a human)"""
    with Gradebook(course.db_url) as gradebook:
        submission = gradebook.find_submission(SHEET, STUDENT)
        return {
            grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }

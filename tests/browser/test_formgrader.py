"""The formgrader beside another grader: what somebody has stored meanwhile is not overwritten without a question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions as seen

from autograder.model.course import Course
from tests.browser.formgrader import Formgrader
from tests.browser.jupyter import Server, jupyter_server
from tests.feedback import toy
from tests.feedback.browser import needs_browser

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

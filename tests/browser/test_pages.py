"""The pages that people read, feedback and class report, on a telephone and on a wide screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By

from autograder import cli
from tests.browser.conftest import Photograph
from tests.feedback.browser import needs_browser, overflow
from tests.pipeline.conftest import graded_class
from tools.demo import EXPECTED

pytestmark = [pytest.mark.slow, needs_browser]

FEEDBACK = "feedback/grace/distilbert/2_attention_block.html"
REPORT = "reports/distilbert/index.html"
TELEPHONE, WIDE = 400, 1400


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample class, reported on by the commands that an instructor types."""
    folder = graded_class(tmp_path_factory.mktemp("graded") / "course").course.root
    for words in (["feedback", "distilbert", "--student", "grace"], ["report", "distilbert"]):
        assert cli.main(["--course", str(folder), *words]) == 0, words
    return folder


@pytest.mark.parametrize("width", [TELEPHONE, WIDE])
@pytest.mark.parametrize(("page", "name"), [(FEEDBACK, "feedback"), (REPORT, "report")])
def test_no_page_is_wider_than_its_window(
    browser: WebDriver, graded: Path, photograph: Photograph, page: str, name: str, width: int
) -> None:
    browser.set_window_size(width, 1000)
    browser.get((graded / page).as_uri())
    assert overflow(browser, width) == 0
    photograph(browser, name if width == WIDE else f"{name}-telephone")


def test_grace_reads_what_her_attention_block_does_wrong(browser: WebDriver, graded: Path) -> None:
    browser.get((graded / FEEDBACK).as_uri())
    assert "softmax" in browser.find_element(By.TAG_NAME, "body").text


def test_the_report_shows_the_whole_class(browser: WebDriver, graded: Path) -> None:
    browser.get((graded / REPORT).as_uri())
    shown = browser.find_element(By.TAG_NAME, "body").text
    assert all(student in shown for student in EXPECTED), shown
    broken = "return [...document.images].filter(image => !image.naturalWidth).length"
    assert browser.execute_script(broken) == 0

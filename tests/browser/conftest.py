"""A browser whose network ends at this machine, and the places that people look at with it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from autograder.model.course import Course
from tests.feedback.browser import chromium
from tests.pipeline.conftest import new_course

LOCAL = "--window-size=1400,1000", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
Photograph = Callable[[WebDriver, str], Path]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    """A fresh profile; no name resolves, so that only 127.0.0.1 can be reached."""
    with chromium(tmp_path_factory.mktemp("profile"), *LOCAL) as driver:
        yield driver


@pytest.fixture(scope="session")
def photograph(tmp_path_factory: pytest.TempPathFactory) -> Photograph:
    """``photograph(driver, name)`` keeps what is in the window; in the folder COURSE_SCREENSHOTS, if that is set."""
    chosen = os.environ.get("COURSE_SCREENSHOTS")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)

    def keep(driver: WebDriver, name: str) -> Path:
        path = folder / f"{name}.png"
        assert driver.save_screenshot(str(path))
        return path

    return keep


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The assignment ``distilbert``, released; to be copied, not written into."""
    return new_course(tmp_path_factory.mktemp("course") / "course")

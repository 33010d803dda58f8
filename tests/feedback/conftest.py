from collections.abc import Iterator

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from autograder.model.course import Course
from tests.feedback.browser import chromium
from tests.feedback.toy import build_course


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return build_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver

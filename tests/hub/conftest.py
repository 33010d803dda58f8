"""The hub of the guide, running, and a browser before it; skipped where a machine lacks what a hub takes."""

import importlib.util
from collections.abc import Iterator

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from tests.browser.conftest import photograph  # noqa: F401
from tests.feedback.browser import CHROMIUM, DRIVER, chromium
from tests.hub.hub import Hub, may_make, proxy, running_hub


def _missing() -> str:
    if importlib.util.find_spec("jupyterhub") is None:
        return "jupyterhub: pip install jupyterhub"
    if proxy() is None:
        return "configurable-http-proxy: npm install --global configurable-http-proxy"
    if not (CHROMIUM and DRIVER):
        return "chromium and chromedriver: apt-get install chromium chromium-driver"
    return "" if may_make() else "root, with the right to make namespaces: its users are system users"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    missing = _missing()
    if missing:
        pytest.skip(f"a hub needs {missing}")
    with running_hub(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture(scope="module")
def browser(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        driver.set_window_size(1100, 640)
        yield driver

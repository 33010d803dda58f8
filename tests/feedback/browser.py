"""A real headless browser for the tests of pages."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and not os.environ.get("CI"),
    reason="no chromium and chromedriver here: apt-get install chromium chromium-driver",
)


class Browser(WebDriver):
    """Chromium, whose pages are there as a whole: now and then its driver returns while one is still being read."""

    def get(self, url: str) -> None:
        super().get(url)
        WebDriverWait(self, 60).until(lambda one: one.execute_script("return document.readyState") == "complete")


@contextmanager
def chromium(profile: Path, *flags: str) -> Iterator[WebDriver]:
    """A browser of its own, without network services of its own, closed at the end."""
    options = Options()
    options.binary_location = CHROMIUM or ""
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
        "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--hide-scrollbars", f"--user-data-dir={profile}", *flags,
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Browser(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(60)
    try:
        yield driver
    finally:
        driver.quit()


def photograph(driver: WebDriver, width: int, path: Path) -> Path:
    """The whole page at one width, as a PNG."""
    driver.set_window_size(width, 1000)
    height = driver.execute_script("return document.documentElement.scrollHeight")
    driver.set_window_size(width, min(int(height) + 150, 12_000))
    driver.save_screenshot(str(path))
    return path


def overflow(driver: WebDriver, width: int) -> int:
    """By how many pixels the page is wider than a window of this width (0: no sideways scrolling)."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    wide = driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return max(0, int(wide))

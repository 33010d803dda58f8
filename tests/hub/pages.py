"""What people do on the hub's pages with a browser; every step waits for what it brings about."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, TimeoutException
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.formgrader import Formgrader

T = TypeVar("T")
PATIENCE = 90
#: Seconds in which a list that was clicked has opened.
OPENING = 10
IGNORED = (NoSuchElementException, StaleElementReferenceException)


class Person:
    """Somebody who has just logged in, in a browser that was nobody's before; their server is running."""

    def __init__(self, browser: WebDriver, url: str, name: str, password: str) -> None:
        self.browser, self.url, self.name = browser, url, name
        browser.get("about:blank")
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        browser.get(f"{url}/hub/login")
        browser.find_element(By.ID, "username_input").send_keys(name)
        browser.find_element(By.ID, "password_input").send_keys(password)
        browser.find_element(By.ID, "login_submit").click()
        self.wait("their server", lambda: f"/user/{name}/" in browser.current_url)

    def wait(self, what: str, until: Callable[[], T]) -> T:
        try:
            return WebDriverWait(self.browser, PATIENCE, 0.2, IGNORED).until(lambda _: until())
        except TimeoutException:
            shown = self.browser.find_element(By.TAG_NAME, "body").text[-1500:]
            raise AssertionError(f"{self.name} waited for {what} at {self.browser.current_url}:\n{shown}") from None

    def find(self, selector: str, text: str = "") -> WebElement | None:
        """The first visible element with this selector, whose text is the one given if one is."""
        for element in self.browser.find_elements(By.CSS_SELECTOR, selector):
            if element.is_displayed() and (not text or element.text.strip() == text):
                return element
        return None

    def click(self, selector: str, text: str = "") -> None:
        self.wait(f"{selector} {text}", lambda: self.find(selector, text)).click()

    def reads(self, path: str) -> str:
        """What a page below the hub's address shows this person."""
        self.browser.get(f"{self.url}/{path}")
        return self.browser.find_element(By.TAG_NAME, "body").text


class Student(Person):
    """Works in JupyterLab's page *Assignment List*."""

    def open_list(self) -> list[str]:
        """Open it; returns the entries of nbgrader's menu."""
        self.browser.get(f"{self.url}/user/{self.name}/lab?reset")
        # as long as that word is in the address, a click on a link within the page loads everything anew
        self.wait("a page that has been reset", lambda: "reset" not in self.browser.current_url)
        self.click(".lm-MenuBar-itemLabel", "Nbgrader")
        self.wait("nbgrader's menu", lambda: self.find(".lm-Menu-itemLabel", "Assignment List"))
        entries = [label.text for label in self.browser.find_elements(By.CSS_SELECTOR, ".lm-Menu-itemLabel")]
        self.click(".lm-Menu-itemLabel", "Assignment List")
        self.wait("the list", lambda: self.find("#released_assignments_list"))
        return entries

    def fetch(self) -> None:
        self.click("#released_assignments_list button", "Fetch")
        self.wait("the assignment", lambda: self.find("#fetched_assignments_list button", "Submit"))

    def validate(self, notebook: str) -> str:
        """What the window says; it is closed then."""
        clicked = 0.0

        def button() -> WebElement | None:
            """It opens out of sight, and the list closes again where nbgrader's page has just loaded it anew."""
            nonlocal clicked
            opened = self.find("#fetched_assignments_list button", "Validate")
            link = self.find("#fetched_assignments_list .assignment-notebooks-link")
            if not opened and link and time.monotonic() - clicked > OPENING:
                clicked = time.monotonic()
                link.click()
            return opened

        self.wait(f"Validate at {notebook}", button).click()
        window = self.wait("the result of Validate", lambda: self.find(".jp-Dialog-content"))
        said = window.text
        self.click(".jp-Dialog button.jp-mod-accept")
        self.wait("the window to close", lambda: not self.find(".jp-Dialog"))
        return said

    def submit(self) -> None:
        self.click("#fetched_assignments_list button", "Submit")
        self.wait("the submission", lambda: self.find("#submitted_assignments_list .nested_list_item"))

    def fetch_feedback(self) -> None:
        self.click("#submitted_assignments_list button", "Fetch Feedback")
        self.wait("the feedback", lambda: self.find("#submitted_assignments_list a", "(view feedback)"))


class HubFormgrader(Formgrader):
    """nbgrader's formgrader in a tab of its own."""

    def __init__(self, instructor: Person) -> None:
        self.browser, self.base = instructor.browser, f"{instructor.url}/user/{instructor.name}"
        self.wait = WebDriverWait(self.browser, PATIENCE, 0.2, (StaleElementReferenceException,))
        self.browser.get(f"{instructor.url}/hub/user-redirect/formgrader")

    def open(self, path: str) -> None:
        self.browser.get(f"{self.base}/formgrader/{path}")

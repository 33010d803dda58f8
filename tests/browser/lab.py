"""What a student does in JupyterLab, with mouse and keyboard; every step waits for what it brings about."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import nbformat
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, TimeoutException
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.jupyter import Server

T = TypeVar("T")
#: A kernel that imports torch and transformers on a busy machine takes its time.
PATIENCE = 90
POLL = 0.2
#: The first cell of a notebook is at work, or done, so many seconds after a click.
STARTED = 10
#: JupyterLab replaces what it shows while we look at it.
IGNORED = (NoSuchElementException, StaleElementReferenceException)
KERNEL = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook-ExecutionIndicator"
ERRORS = ".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr'], .jp-Dialog"
VIEW = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
PROMPTS = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .jp-InputPrompt"
CELLS = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell"


class Notebook:
    """A notebook open in JupyterLab. Cells are named by their ids, as in the file."""

    def __init__(self, browser: WebDriver, server: Server, path: str) -> None:
        self.browser = browser
        cells = nbformat.read(server.folder / path, as_version=4).cells
        self._places = {cell.id: place for place, cell in enumerate(cells)}
        browser.get(server.page(f"lab/tree/{path}") + "&reset")
        # JupyterLab loads itself anew; what is clicked before goes with the page
        self.wait("a page that has been reset", lambda: "reset" not in self.browser.current_url)
        self.wait("the notebook with all its cells", lambda: len(self._all(CELLS)) == len(cells))
        self.wait("a kernel that is ready", lambda: self._kernel() == "idle")

    def wait(self, what: str, until: Callable[[], T]) -> T:
        """What ``until`` returns once that is true; where it never is, the failure shows what the notebook shows."""
        try:
            return WebDriverWait(self.browser, PATIENCE, POLL, IGNORED).until(lambda _: until())
        except TimeoutException:
            shown = "\n".join(element.text for element in self._all(ERRORS)) or "no error"
            raise AssertionError(f"waited {PATIENCE} s for {what}; kernel {self._kernel()}; {shown}") from None

    def cell(self, cell_id: str) -> WebElement:
        return self._all(CELLS)[self._places[cell_id]]

    def output(self, cell_id: str) -> WebElement:
        return self.cell(cell_id).find_element(By.CSS_SELECTOR, ".jp-OutputArea")

    def run_all(self) -> None:
        """Run, Run All Cells. It stops where a cell fails, as JupyterLab does.

        A notebook that is still settling takes the click and does nothing, so it is made again.
        """
        for _ in range(3):
            self._click_label(".lm-MenuBar-itemLabel", "Run")
            self._click_label(".lm-Menu-itemLabel", "Run All Cells")
            with contextlib.suppress(TimeoutException):
                WebDriverWait(self.browser, STARTED, POLL, IGNORED).until(lambda _: self._has_run())
                return
        raise AssertionError(f"no cell began to run; kernel {self._kernel()}")

    def _has_run(self) -> bool:
        """Whether a cell's prompt has a number, or says that it is running."""
        return any(shown.text.strip(" []:") for shown in self._all(PROMPTS))

    def wait_for_output(self, cell_id: str, text: str) -> WebElement:
        self.wait(f"{text!r} under {cell_id}", lambda: text in self.output(cell_id).text)
        return self.output(cell_id)

    def replace_line(self, cell_id: str, line: str, by: str) -> None:
        """Click on a line of code, and type another in its place."""
        lines = self.cell(cell_id).find_elements(By.CSS_SELECTOR, ".cm-line")
        place = next(element for element in lines if element.text.strip() == line)
        self.show(place)
        place.click()
        keys = ActionChains(self.browser)
        keys.send_keys(Keys.HOME).key_down(Keys.SHIFT).send_keys(Keys.END).key_up(Keys.SHIFT).send_keys(by)
        keys.send_keys(Keys.ESCAPE).perform()
        self.wait(f"{by!r} in {cell_id}", lambda: by in self.cell(cell_id).text)

    def run_from(self, cell_id: str, steps: int) -> None:
        """Shift and Enter, so many times, from this cell on."""
        self.show(self.cell(cell_id))
        self.cell(cell_id).find_element(By.CSS_SELECTOR, ".jp-InputPrompt").click()
        for _ in range(steps):
            ActionChains(self.browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()

    def validate(self) -> str:
        """nbgrader's Validate button; returns what its window says, and closes it."""
        self.browser.find_element(By.CSS_SELECTOR, ".validate-button").click()
        window = self.wait("the result of Validate", lambda: self._all(".jp-Dialog-content"))[0]
        said = window.text
        window.find_element(By.CSS_SELECTOR, "button.jp-mod-accept").click()
        self.wait("the window to close", lambda: not self._all(".jp-Dialog"))
        return said

    def show(self, element: WebElement) -> None:
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)

    def show_from(self, cell_id: str) -> None:
        """Scroll until this cell is at the top and nothing before it can be seen: an answer belongs in no picture."""
        cell, before = self.cell(cell_id), self._all(CELLS)[self._places[cell_id] - 1]
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'start'})", cell)
        hidden = "return arguments[0].getBoundingClientRect().bottom <= arguments[1].getBoundingClientRect().top + 1"
        view = self.browser.find_element(By.CSS_SELECTOR, VIEW)
        self.wait("the cell before it to be out of sight", lambda: self.browser.execute_script(hidden, before, view))

    def _kernel(self) -> str | None:
        return next((shown.get_attribute("data-status") for shown in self._all(KERNEL)), None)

    def _all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def _click_label(self, selector: str, label: str) -> None:
        self.wait(label, lambda: next((item for item in self._all(selector) if item.text == label), None)).click()


def addresses(browser: WebDriver) -> list[str]:
    """Where the page's files came from."""
    return browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")


def solve(notebook: Path, answers: dict[str, str]) -> None:
    """Put answers into a notebook's solution cells: grade id -> text."""
    opened = nbformat.read(notebook, as_version=4)
    for cell in opened.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(grade_id, cell.source)
    nbformat.write(opened, notebook)

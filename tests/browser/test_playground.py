"""The text box in JupyterLab: a sentence is typed, a head is chosen, and what is shown follows."""

from __future__ import annotations

from collections.abc import Iterator

import nbformat
import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from demo.answers import ALAN
from tests.browser.conftest import Photograph
from tests.browser.jupyter import Server, jupyter_server
from tests.browser.lab import Notebook, solve
from tests.feedback.browser import needs_browser
from tests.grading import ROOT

pytest.importorskip("ipywidgets", reason="ipywidgets is not installed (the extra 'views')")
pytestmark = [pytest.mark.slow, needs_browser]

NOTEBOOK = "4_attention_visualization"
#: What the text box does not need, and takes a browser a minute to draw.
LEFT_OUT = {"show-figure", "head-view", "model-view", "neuron-view", "without-text-box"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("student")
    notebook = nbformat.read(ROOT / "release" / "distilbert" / f"{NOTEBOOK}.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id not in LEFT_OUT]
    nbformat.write(notebook, folder / f"{NOTEBOOK}.ipynb")
    solve(folder / f"{NOTEBOOK}.ipynb", ALAN[NOTEBOOK])
    with jupyter_server(folder, tmp_path_factory.mktemp("home")) as running:
        yield running


def test_a_typed_sentence_and_a_chosen_head_are_shown(
    browser: WebDriver, server: Server, photograph: Photograph
) -> None:
    notebook = Notebook(browser, server, f"{NOTEBOOK}.ipynb")
    notebook.run_all()
    box = notebook.wait("the text box", lambda: _controls(notebook, "input[type='text']"))[0]
    assert "[CLS] the plot" in notebook.output("text-box").text

    notebook.show(box)
    box.click()
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("Nobody will miss this film.", Keys.ENTER)
    notebook.wait_for_output("text-box", "[CLS] nobody will miss this film . [SEP]")
    picture = notebook.wait("its picture", lambda: _controls(notebook, "img"))[0]
    assert "layer 0, head 2" in str(picture.get_attribute("alt"))
    notebook.wait("the picture's pixels", lambda: _width(browser, _controls(notebook, "img")[0]) > 100)
    notebook.show(notebook.output("text-box"))
    photograph(browser, "text-box")

    Select(_controls(notebook, "select")[1]).select_by_visible_text("5")
    chosen = "layer 0, head 5"
    notebook.wait("the other head", lambda: chosen in str(_controls(notebook, "img")[0].get_attribute("alt")))


def _controls(notebook: Notebook, selector: str) -> list[WebElement]:
    return notebook.cell("text-box").find_elements(By.CSS_SELECTOR, f".jp-OutputArea {selector}")


def _width(browser: WebDriver, picture: WebElement) -> int:
    return int(browser.execute_script("return arguments[0].naturalWidth", picture))

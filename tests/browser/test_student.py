"""A student in JupyterLab: a failing check, a passing one, interactive views without network, a text box, Validate."""

import shutil
from collections.abc import Iterator

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from autograder.assignment.assignment import Assignment
from autograder.release.as_submitted import solved
from tests.browser.conftest import Photograph
from tests.browser.jupyter import Server, jupyter_server
from tests.browser.lab import Notebook, addresses, solve
from tests.browser.test_axe import needs_axe, serious
from tests.feedback.browser import needs_browser
from tests.grading import ROOT
from tools.demo.answers import ALAN

pytestmark = [pytest.mark.slow, needs_browser]

BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
GAP = "raise NotImplementedError()"
#: A notebook that needs no torch.
LIGHT, LIGHT_NOTEBOOK = "numpy_attention", "1_attention"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """What a student has: the released notebooks, in a folder of the student's own, and no course around them."""
    folder = tmp_path_factory.mktemp("student")
    for name in ("distilbert", "solved"):
        shutil.copytree(ROOT / "release" / "distilbert", folder / name)
    for notebook, answers in ALAN.items():
        solve(folder / "solved" / f"{notebook}.ipynb", answers)
    shutil.copytree(ROOT / "release" / LIGHT, folder / "unsolved-light")
    (folder / "solved-light").mkdir()
    handed_in = solved(Assignment.open(ROOT, LIGHT)).notebooks[LIGHT_NOTEBOOK]
    (folder / "solved-light" / f"{LIGHT_NOTEBOOK}.ipynb").write_bytes(handed_in)
    with jupyter_server(folder, tmp_path_factory.mktemp("home")) as running:
        yield running


def test_a_failing_check_says_what_is_missing_and_the_solved_one_passes(
    browser: WebDriver, server: Server, photograph: Photograph
) -> None:
    notebook = Notebook(browser, server, "distilbert/1_embedding.ipynb")
    notebook.run_all()
    notebook.wait_for_output("position-ids", GAP)
    notebook.replace_line("embeddings-answer", GAP, "return torch.arange(input_ids.shape[1])")

    wrong = "return words * positions"
    notebook.replace_line("embeddings-answer", GAP, wrong)
    notebook.run_from("embeddings-answer", 3)
    failed = notebook.wait_for_output("merge", "Words and positions were multiplied")
    assert "Traceback" not in failed.text
    notebook.show_from("merge")
    photograph(browser, "jupyterlab-check-failing")

    notebook.replace_line("embeddings-answer", wrong, "return words + positions")
    notebook.run_from("embeddings-answer", 3)
    notebook.wait_for_output("merge", "✓")
    notebook.show_from("merge")  # what passed can be shown without the answer
    photograph(browser, "jupyterlab-check-passing")


@pytest.fixture(scope="module")
def looking(browser: WebDriver, server: Server) -> Notebook:
    """The notebook of views and of the text box, solved, every cell run."""
    notebook = Notebook(browser, server, "solved/4_attention_visualization.ipynb")
    notebook.run_all()
    return notebook


def test_head_view_and_model_view_are_drawn_without_network(
    browser: WebDriver, server: Server, looking: Notebook, photograph: Photograph
) -> None:
    notebook = looking
    notebook.wait("the lines of the head view", lambda: len(_lines(notebook, "head-view")) > 100)
    assert "best" in notebook.output("head-view").text
    notebook.show(notebook.output("head-view"))
    photograph(browser, "head-view")
    notebook.wait("the lines of the model view", lambda: len(_lines(notebook, "model-view")) > 1000)
    elsewhere = {address for address in addresses(browser) if not address.startswith((server.url, "data:", "blob:"))}
    assert elsewhere <= {BADGE}


def test_a_typed_sentence_and_a_chosen_head_are_shown(
    browser: WebDriver, looking: Notebook, photograph: Photograph
) -> None:
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed (the extra 'views')")
    notebook = looking
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


@needs_axe
def test_a_panel_follows_the_keyboard_and_axe_finds_nothing_serious_in_it(
    browser: WebDriver, server: Server, photograph: Photograph
) -> None:
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed (the extra 'views')")
    notebook = Notebook(browser, server, f"solved-light/{LIGHT_NOTEBOOK}.ipynb")
    notebook.run_all()
    box = notebook.wait("the text box", lambda: _controls(notebook, "input[type='text']", "play"))[0]
    notebook.show(box)
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("the farmer has money for the land", Keys.ENTER)
    drawn = notebook.wait("its picture", lambda: _controls(notebook, "img", "play"))[0].get_attribute("src")
    handle = _controls(notebook, "[role='slider']", "play")[0]
    handle.send_keys(Keys.ARROW_RIGHT)
    notebook.wait("another picture", lambda: _controls(notebook, "img", "play")[0].get_attribute("src") != drawn)
    photograph(browser, "panel")
    number = _controls(notebook, "input[type='number']", "play")[0]
    assert float(str(number.get_attribute("value"))) == 1.5
    # the handle of an ipywidgets slider has no name; the field beside it has one, and does the same
    assert serious(browser, without=("aria-input-field-name",), within=notebook.output("play")) == []


def _lines(notebook: Notebook, cell_id: str) -> list[WebElement]:
    return notebook.cell(cell_id).find_elements(By.CSS_SELECTOR, ".jp-OutputArea svg line")


def _controls(notebook: Notebook, selector: str, cell_id: str = "text-box") -> list[WebElement]:
    return notebook.cell(cell_id).find_elements(By.CSS_SELECTOR, f".jp-OutputArea {selector}")


def _width(browser: WebDriver, picture: WebElement) -> int:
    return int(browser.execute_script("return arguments[0].naturalWidth", picture))


@pytest.mark.parametrize(("folder", "expected"), [("unsolved", "failed"), ("solved", "passes all the tests")])
def test_nbgraders_validate_button_tells_solved_from_unsolved(
    browser: WebDriver, server: Server, folder: str, expected: str
) -> None:
    notebook = Notebook(browser, server, f"{folder}-light/{LIGHT_NOTEBOOK}.ipynb")
    said = notebook.validate()
    assert expected in said, said

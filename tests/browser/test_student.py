"""A student in JupyterLab: a failing check, a passing one, interactive views without network, Validate."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from autograder.model.assignment import Assignment
from autograder.release.verify import solved
from demo.answers import ALAN
from tests.browser.conftest import Photograph
from tests.browser.jupyter import Server, jupyter_server
from tests.browser.lab import Notebook, addresses, solve
from tests.feedback.browser import needs_browser
from tests.grading import ROOT

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
    notebook.wait_for_output("check-embeddings", GAP)

    wrong = "embeddings = input_embeds * position_embeddings"
    notebook.replace_line("embeddings-answer", GAP, wrong)
    notebook.run_from("embeddings-answer", 2)
    failed = notebook.wait_for_output("check-embeddings", "they were multiplied")
    assert "Traceback" not in failed.text
    notebook.show_from("check-embeddings")
    photograph(browser, "jupyterlab-check-failing")

    notebook.replace_line("embeddings-answer", wrong, "embeddings = input_embeds + position_embeddings")
    notebook.run_from("embeddings-answer", 2)
    notebook.wait_for_output("check-embeddings", "✓")
    notebook.show_from("check-embeddings")  # what passed can be shown without the answer
    photograph(browser, "jupyterlab-check-passing")


def test_head_view_and_model_view_are_drawn_without_network(
    browser: WebDriver, server: Server, photograph: Photograph
) -> None:
    notebook = Notebook(browser, server, "solved/4_attention_visualization.ipynb")
    notebook.run_all()
    notebook.wait("the lines of the head view", lambda: len(_lines(notebook, "head-view")) > 100)
    assert "best" in notebook.output("head-view").text
    notebook.show(notebook.output("head-view"))
    photograph(browser, "head-view")
    notebook.wait("the lines of the model view", lambda: len(_lines(notebook, "model-view")) > 1000)
    elsewhere = {address for address in addresses(browser) if not address.startswith((server.url, "data:", "blob:"))}
    assert elsewhere <= {BADGE}


def _lines(notebook: Notebook, cell_id: str) -> list[WebElement]:
    return notebook.cell(cell_id).find_elements(By.CSS_SELECTOR, ".jp-OutputArea svg line")


@pytest.mark.parametrize(("folder", "expected"), [("unsolved", "failed"), ("solved", "passes all the tests")])
def test_nbgraders_validate_button_tells_solved_from_unsolved(
    browser: WebDriver, server: Server, folder: str, expected: str
) -> None:
    notebook = Notebook(browser, server, f"{folder}-light/{LIGHT_NOTEBOOK}.ipynb")
    said = notebook.validate()
    assert expected in said, said

"""Pages for everybody: on a telephone and a wide screen, axe-core finds nothing serious, the keyboard suffices, dark
mode is dark, figures have words.
"""

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from autograder import cli
from tests.browser.conftest import Photograph
from tests.exports.conftest import cells
from tests.feedback.browser import needs_browser, overflow
from tests.feedback.toy import build_course, hand_in
from tests.grading import ROOT
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


#: Installed by ``.ci/run``, from npm, and by nobody else: it is a tool of these tests alone.
AXE = Path(os.environ.get("AXE_CORE") or ROOT / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js")
needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="no axe-core here: npm install --prefix build/axe axe-core@4.10.3"
)
#: Colours of prompts and links are those of Jupyter's own theme, not of the notebook.
THEME = ("color-contrast", "link-in-text-block")
NOTEBOOKS = sorted((ROOT / "release").glob("*/*.ipynb"))
PAGES = ("feedback/ada/toy/1_sums.html", "feedback/bob/toy/1_sums.html", "reports/toy/index.html")
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\([^)]+\)|<img\b[^>]*?(?:alt=\"(?P<html>[^\"]*)\")?[^>]*>")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Feedback and report of a small class: one right, one wrong, one with a written answer to be read."""
    course = build_course(tmp_path_factory.mktemp("pages") / "course")
    for student, points in (("ada", 3.0), ("bob", 0.0), ("carl", 0.0)):
        hand_in(course, student, cells=cells(points, 2.0))
    for command in ("feedback", "report"):
        assert cli.main(["--course", str(course.root), command, "toy"]) == 0
    return course.root


def serious(
    browser: WebDriver, without: tuple[str, ...] = (), only: tuple[str, ...] = (), within: WebElement | None = None
) -> list[str]:
    """What axe-core calls serious or critical: rule, first place, number of places.

    only: these rules, not all; within: this part of the page, not all
    """
    browser.set_script_timeout(120)
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    rules = {rule: {"enabled": False} for rule in without}
    options = {"resultTypes": ["violations"], "rules": rules} | ({"runOnly": list(only)} if only else {})
    run = "const done = arguments[2]; axe.run(arguments[0] || document, arguments[1]).then(done)"
    found: dict[str, Any] = browser.execute_async_script(run, within, options)
    assert len(found["passes"]) > (0 if only or within else 5)  # it has looked
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]} ({len(one['nodes'])})"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def scheme(browser: WebDriver, name: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": name}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@needs_axe
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious_on_feedback_and_report(browser, written, photograph, colours):
    scheme(browser, colours)
    found = {}
    for page in PAGES:
        browser.get((written / page).as_uri())
        found[page] = serious(browser)
        photograph(browser, f"axe-{colours}-{page.replace('/', '-')}")
    assert found == {page: [] for page in PAGES}


@needs_axe
def test_axe_would_find_something(browser, tmp_path):
    page = tmp_path / "wrong.html"
    page.write_text("<title>t</title><main><h1>x</h1><img src='a.png'><p style='color:#ccc'>pale</p>"
                    "<a href='#a'>one</a><table><tr><td>x</td></tr></table></main>")  # fmt: skip
    browser.get(page.as_uri())
    said = " ".join(serious(browser))
    assert all(rule in said for rule in ("image-alt", "color-contrast", "html-has-lang"))


def test_dark_mode_is_dark_and_light_mode_is_light(browser, written):
    for page in PAGES:
        shades = {}
        for colours in ("light", "dark"):
            scheme(browser, colours)
            browser.get((written / page).as_uri())
            shades[colours] = browser.execute_script(
                "return ['backgroundColor', 'color'].map(key => getComputedStyle(document.body)[key].match(/\\d+/g)"
                ".slice(0, 3).reduce((sum, part) => sum + +part, 0) / 3)"
            )
        assert shades["light"][0] > 200 > 80 > shades["light"][1], page
        assert shades["dark"][0] < 60 < 180 < shades["dark"][1], page


def test_the_keyboard_alone_reaches_and_opens_everything(browser, written):
    browser.get((written / PAGES[-1]).as_uri())
    wanted = browser.execute_script(
        "const found = [...document.querySelectorAll('a[href], summary, button, input')];"
        "const all = found.filter(one => one.checkVisibility());"
        "all.forEach((one, number) => one.dataset.number = number); return all.length"
    )
    assert wanted > 3
    reached, hidden = set(), set()
    for _ in range(wanted + 40):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        number, ring = browser.execute_script(
            "const at = document.activeElement, style = getComputedStyle(at);"
            "return [at.dataset.number, style.outlineStyle !== 'none' && style.outlineWidth !== '0px']"
        )
        if number is not None:
            reached.add(number)
            hidden |= set() if ring else {number}
        if len(reached) == wanted:
            break
    assert (len(reached), hidden) == (wanted, set())


@needs_axe
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_axe_finds_nothing_serious_in_a_released_notebook(browser, tmp_path, path):
    scheme(browser, "light")
    page = tmp_path / "notebook.html"
    exporter = HTMLExporter(mathjax_url="", require_js_url="")
    page.write_text(exporter.from_notebook_node(nbformat.read(path, as_version=4))[0], encoding="utf-8")
    browser.get(page.as_uri())
    assert serious(browser, THEME) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_figure_of_a_notebook_says_what_it_shows(path):
    for cell in nbformat.read(path, as_version=4).cells:
        for image in IMAGE.finditer(cell.source) if cell.cell_type == "markdown" else ():
            words = (image["alt"] if image["alt"] is not None else image["html"]) or ""
            badge = "badge" in image[0]
            assert len(words.split()) >= (2 if badge else 4), image[0][:120]


def test_every_figure_of_the_report_says_what_it_shows(browser, written):
    browser.get((written / PAGES[-1]).as_uri())
    words = browser.execute_script("return [...document.images].map(image => image.alt)")
    assert len(words) >= 2 and all(len(text.split()) >= 4 for text in words), words

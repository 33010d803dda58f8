"""Both sites in a real browser without network: links, pictures, search, keyboard, both modes of colour."""

from __future__ import annotations

import importlib.util
import re
from collections import deque
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from autograder.model.assignment import Assignment
from autograder.model.course import Course
from autograder.release.publish import publish
from autograder.release.solved_run import kept, name_of
from autograder.site.shown import left_out
from tests.browser.test_axe import AXE, scheme, serious
from tests.feedback.browser import needs_browser, overflow
from tests.grading import ROOT

pytestmark = [pytest.mark.slow, needs_browser]
MAX_BYTES = 15_000_000
WORDS = (
    "softmax",
    "perplexity",
    "LayerNorm",
    "padding",
    "temperature",
    "rotary",
    "gradient",
    "bigram",
    "bias",
    "cache",
)
NOTEBOOKS = sorted(f"release/{path.parent.name}/{path.stem}.html" for path in ROOT.glob("release/*/*.ipynb"))
#: Seen in the dark as well; the rest has the same parts.
IN_THE_DARK = ("index.html", "course.html", "search.html", "docs/student.html", NOTEBOOKS[0], NOTEBOOKS[-1])


@pytest.fixture(scope="module", params=["own", "students"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "students":
        publish(ROOT, folder / "students", site=True)
        return folder / "students" / "site"
    spec = importlib.util.spec_from_file_location("own_site", ROOT / "scripts" / "own_site.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(folder / "site")
    return folder / "site"


class Parsed(HTMLParser):
    """What a page leads to and what can be led to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if "href" in found:
            (self.links if tag == "a" else self.loaded).append(found["href"])
        if "src" in found:
            self.loaded.append(found["src"])


@cache
def parsed(path: Path) -> Parsed:
    return Parsed(path)


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def target(page: Path, link: str) -> tuple[Path, str]:
    path, _, anchor = unquote(link).partition("#")
    return ((page.parent / path.partition("?")[0]).resolve() if path else page), anchor


def test_no_link_is_broken_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    broken = []
    for page in pages(site):
        for link in (*parsed(page).links, *parsed(page).loaded):
            if re.match(r"https?:|mailto:|data:", link):
                if link in parsed(page).loaded and not link.startswith("data:"):
                    broken.append((page.name, link))
                continue
            path, anchor = target(page, link)
            missing = anchor and path.suffix == ".html" and path.is_file() and anchor not in parsed(path).anchors
            if not path.is_file() or missing:
                broken.append((str(page.relative_to(site)), link))
    assert broken == []


def test_it_is_small(site: Path) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) <= MAX_BYTES


def test_every_exercise_is_three_clicks_from_the_front_page(site: Path) -> None:
    clicks = {(site / "index.html").resolve(): 0}
    waiting = deque(clicks)
    while waiting:
        page = waiting.popleft()
        for link in parsed(page).links:
            path = target(page, link)[0]
            if not re.match(r"[a-z]+:", link) and path.suffix == ".html" and path not in clicks:
                clicks[path] = clicks[page] + 1
                waiting.append(path)
    for name in NOTEBOOKS:
        page = (site / name).resolve()
        assert clicks[page] <= 2, name
        text = page.read_text(encoding="utf-8")
        contents = re.search(r'<nav[^>]*class="page-toc.*?</nav>', text, re.DOTALL)
        assert contents and contents[0].count("<li") >= 3, f"{name}: the third click, to the exercise"


def test_every_figure_of_the_solved_run_is_there_with_its_words(browser: WebDriver, site: Path) -> None:
    course, found = Course(ROOT), 0
    for name in course.assignments():
        assignment = Assignment.open(course, name)
        shown = kept(course, assignment)
        assert shown is not None
        for notebook, source in assignment.source.items():
            secret = {*left_out(source), *(name_of(one) for one in source.cells if "answer" in name_of(one))}
            figures = [
                output
                for cell, outputs in shown[notebook].items()
                for output in (outputs if cell not in secret else ())
                if "image/png" in output.get("data", {})
            ]
            browser.get((site / "release" / name / f"{notebook}.html").as_uri())
            images = browser.execute_script(
                "return [...document.querySelectorAll('.cell_output img')]"
                ".map(one => [one.complete && one.naturalWidth > 9, one.alt])"
            )
            assert len(images) == len(figures), (name, notebook)
            assert all(loaded and len(alt.split()) >= 4 for loaded, alt in images), (name, notebook, images)
            found += len(images)
    assert found > 40


def test_every_other_picture_is_there(browser: WebDriver, site: Path) -> None:
    for page in pages(site):
        if "<img" in page.read_text(encoding="utf-8"):
            browser.get(page.as_uri())
            script = "return [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
            assert browser.execute_script(script) == [], page


#: A button whose colour changes slowly has the one of the other scheme for a moment.
WITHOUT_TRANSITIONS = """
const still = document.createElement("style");
still.textContent = "* { transition: none !important; animation: none !important }";
document.head.append(still);
"""


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core here: npm install --prefix build/axe axe-core@4.10.3")
def test_axe_finds_nothing_serious(browser: WebDriver, site: Path) -> None:
    found = {}
    for page in pages(site):
        name = str(page.relative_to(site))
        for colours in ("light", "dark") if name in IN_THE_DARK else ("light",):
            scheme(browser, colours)
            browser.get(page.as_uri())
            browser.execute_script(WITHOUT_TRANSITIONS)
            if said := serious(browser):
                found[name, colours] = said
    assert found == {}


def test_search_finds_words_without_a_network(browser: WebDriver, site: Path) -> None:
    for word in WORDS:
        browser.get((site / "index.html").as_uri())
        ActionChains(browser).key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
        WebDriverWait(browser, 20).until(lambda one: one.switch_to.active_element.tag_name == "input")
        browser.switch_to.active_element.send_keys(word + Keys.ENTER)
        links = WebDriverWait(browser, 30).until(lambda one: one.find_elements(By.CSS_SELECTOR, "#search-results li a"))
        assert "search.html" in browser.current_url
        assert any("/release/" in link.get_attribute("href") for link in links), word


def test_dark_mode_is_dark_and_a_phone_need_not_scroll_sideways(browser: WebDriver, site: Path, photograph) -> None:
    for name in ("index.html", "course.html", NOTEBOOKS[0]):
        shades = {}
        for colours in ("light", "dark"):
            scheme(browser, colours)
            browser.get((site / name).as_uri())
            shades[colours] = browser.execute_script(
                "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
            )
            photograph(browser, f"site-{site.parent.name}-{colours}-{Path(name).stem}")
        assert min(shades["light"]) > 200 and max(shades["dark"]) < 60, (name, shades)
        assert overflow(browser, 390) == 0, name

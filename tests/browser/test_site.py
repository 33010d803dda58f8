"""Both sites in a real browser without network: links, pictures, search, keyboard, both modes of colour."""

from __future__ import annotations

import html
import importlib.util
import os
import re
from collections import Counter, deque
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from PIL import Image
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.model.course import Course
from autograder.publish.publish import publish
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
#: Parts of formulas: their colour is the text's.
MATHML = {"math", "mrow", "mi", "mo", "mn", "msub", "msup", "msubsup", "mfrac", "msqrt", "mover", "munder", "mtext",
          "mstyle", "munderover", "mtable", "mtr", "mtd", "mspace", "mroot", "mpadded", "menclose"}  # fmt: skip


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
        self.ids: Counter[str] = Counter()
        self.parts: set[tuple[str, str]] = set()  # (tag, class), but those of formulas
        self.pictures: list[dict[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        self.ids.update([found["id"]] if "id" in found else [])
        self.parts |= {(tag, kind) for kind in found.get("class", "").split() or [""]} if tag not in MATHML else set()
        self.pictures += [found] if tag == "img" else []
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


def test_every_other_picture_is_there_and_no_page_has_an_id_twice(site: Path) -> None:
    for page in pages(site):
        for picture in parsed(page).pictures:
            assert picture.get("alt"), (page, picture)
            if not picture["src"].startswith("data:"):
                Image.open(target(page, picture["src"])[0]).verify()
        assert [name for name, times in parsed(page).ids.items() if times > 1] == [], page


def kinds(site: Path) -> list[Path]:
    """Pages in which every kind of part occurs that any page has: the front page, and those with most that is new."""
    left = set().union(*(parsed(page).parts for page in pages(site)))
    chosen = []
    while left:
        front = site / "index.html"
        best = front if not chosen else max(pages(site), key=lambda page: (len(parsed(page).parts & left), page.name))
        chosen.append(best)
        left -= parsed(best).parts
    return chosen


#: A button whose colour changes slowly has the one of the other scheme for a moment. Of a block of code, one word of
#: each colour is enough: thousands have the same.
PREPARED = """
const still = document.createElement("style");
still.textContent = "* { transition: none !important; animation: none !important }";
document.head.append(still);
const seen = new Set();
for (const word of document.querySelectorAll(".highlight span, .output span")) {
  const block = word.closest("div.highlight, div.output"), look = `${block?.parentElement.className} ${word.className}`;
  if (word.children.length === 0 && seen.has(look)) word.remove();
  seen.add(look);
}
"""


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core here: npm install --prefix build/axe axe-core@4.10.3")
def test_axe_finds_nothing_serious(browser: WebDriver, site: Path) -> None:
    """On pages that have all kinds of parts; EVERY_PAGE=1 looks at all of them."""
    found = {}
    for page in pages(site) if os.environ.get("EVERY_PAGE") else kinds(site):
        for colours in ("light", "dark"):
            scheme(browser, colours)
            browser.get(page.as_uri())
            browser.execute_script(PREPARED)
            if said := serious(browser, only=("color-contrast",) if colours == "dark" else ()):  # else it is the same
                found[str(page.relative_to(site)), colours] = said
    assert found == {}


def test_search_finds_words_without_a_network(browser: WebDriver, site: Path) -> None:
    browser.get((site / "index.html").as_uri())
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
    WebDriverWait(browser, 20).until(lambda one: one.switch_to.active_element.tag_name == "input")
    browser.switch_to.active_element.send_keys(WORDS[0] + Keys.ENTER)
    for word in WORDS:
        if word != WORDS[0]:
            browser.get(f"{(site / 'search.html').as_uri()}?q={word}")
        links = WebDriverWait(browser, 30).until(lambda one: one.find_elements(By.CSS_SELECTOR, "#search-results li a"))
        assert f"search.html?q={word}" in browser.current_url
        assert any("/release/" in link.get_attribute("href") for link in links), word


def lines(text: str) -> set[str]:
    return {line.partition("  #")[0].strip() for line in text.split("\n")}


def secret_lines() -> dict[str, str]:
    """Every long line of a solution or a hidden test that no student gets, not even in a hint -> where it stands."""
    texts = [path.read_text(encoding="utf-8") for path in [*ROOT.glob("course/**/*.py"), *ROOT.glob("docs/*.md")]]
    for path in ROOT.glob("release/*/*.ipynb"):
        texts += [cell.source for cell in nbformat.read(path, as_version=4).cells]
    given, found = "\n".join(texts), {}
    for path in ROOT.glob("source/*/*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            secret = cell.source if cells.is_solution(cell) else cells.split_hidden(cell.source).hidden
            for line in lines(secret):
                if len(line) >= 40 and line not in given:
                    found[line] = f"{path.name}, {name_of(cell)}"
    return found


def test_no_byte_has_a_line_of_a_solution_or_of_a_hidden_test(site: Path) -> None:
    """The search of the command found nothing; this one knows nothing of how that one searches."""
    secrets, found = secret_lines(), []
    assert len(secrets) > 200
    for path in (path for path in site.rglob("*") if path.is_file()):
        text = path.read_bytes().decode(errors="replace")
        if path.suffix == ".html":
            text = html.unescape(re.sub(r"<[^>]+>", "", text))
        elif path.suffix in (".ipynb", ".js"):
            text = text.replace('\\"', '"')
        elif path.suffix == ".png":
            text = f"{Image.open(path).info}"
        # one search for all: each begins with 40 characters that are looked up
        starts = {line[:40]: line for line in secrets}
        found += [(str(path), secrets[starts[begin]]) for begin in starts if begin in text and starts[begin] in text]
    assert found == []


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

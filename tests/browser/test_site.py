"""Both sites in a real browser without network: links, pictures, search, keyboard, both modes of colour."""

import html
import os
import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
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
from autograder.release.main_line import Lesson
from autograder.release.solved_run import kept, name_of
from autograder.site.build import Page, Site, build
from autograder.site.shown import left_out
from tests.browser.conftest import Photograph
from tests.browser.test_axe import AXE, needs_axe, scheme, serious
from tests.feedback.browser import needs_browser, overflow
from tests.grading import ROOT
from tools import own_site

pytestmark = [pytest.mark.slow, needs_browser]
MAX_BYTES = 15_000_000
WORDS = [
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
]
NOTEBOOKS = sorted(f"release/{path.parent.name}/{path.stem}.html" for path in ROOT.glob("release/*/*.ipynb"))
#: The first step of the main line; what a check says to a mistake there.
FIRST, MESSAGE = "release/numpy_attention/1_attention.html", "article .highlight-text"
#: Parts of formulas: their colour is the text's.
MATHML = {"math", "mrow", "mi", "mo", "mn", "msub", "msup", "msubsup", "mfrac", "msqrt", "mover", "munder", "mtext",
          "mstyle", "munderover", "mtable", "mtr", "mtd", "mspace", "mroot", "mpadded", "menclose"}  # fmt: skip


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sites")
    publish(ROOT, folder / "students", site=True)
    own_site.make(folder / "own" / "site")
    return {name: folder / name / "site" for name in ("own", "students")}


@pytest.fixture(params=["own", "students"])
def site(request: pytest.FixtureRequest, sites: dict[str, Path]) -> Path:
    return sites[request.param]


class Parsed(HTMLParser):
    """What a page leads to and what can be led to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.ids: Counter[str] = Counter()
        self.titles = 0
        self.parts: set[tuple[str, str]] = set()  # (tag, class), but those of formulas
        self.pictures: list[dict[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        self.ids.update([found["id"]] if "id" in found else [])
        self.titles += tag == "h1"
        self.parts |= {(tag, kind) for kind in found.get("class", "").split() or [""]} if tag not in MATHML else set()
        self.pictures += [found] if tag == "img" else []
        if "href" in found:
            (self.links if tag == "a" else self.loaded).append(found["href"])
        if "src" in found:
            self.loaded.append(found["src"])


@cache
def parsed(path: Path) -> Parsed:
    return Parsed(path)


@cache
def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


@cache
def article(page: Path) -> str:
    """What a page has beside its navigation. Most notebooks have the same on both sites."""
    text = page.read_text(encoding="utf-8")
    return text[text.find("<article") : text.find("</article>")] or text


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


@dataclass(frozen=True)
class Visits:
    """What a browser makes of the pages.

    pictures: article -> (address, whether it can be seen, its words, whether it is an output) of each of its pictures;
    serious: page and colours -> what axe finds, where it looked.
    """

    pictures: dict[str, list[tuple[str, bool, str, bool]]] = field(default_factory=dict)
    serious: dict[tuple[Path, str], list[str]] = field(default_factory=dict)


SHOWN = """
return [...document.images].map(
  one => [one.src, one.complete && one.naturalWidth > 9, one.alt, one.closest(".cell_output") !== null])
"""


@pytest.fixture(scope="module")
def visits(browser: WebDriver, sites: dict[str, Path]) -> Visits:
    """Every page is opened, but where the other site has the same article."""
    every = [page for site in sites.values() for page in pages(site)]
    fronts = [site / "index.html" for site in sites.values()]
    chosen = {*(every if os.environ.get("EVERY_PAGE") else kinds(every)), *fronts} if AXE.is_file() else set()
    found = Visits()
    for page in every:
        if page in chosen or article(page) not in found.pictures:
            scheme(browser, "light")
            browser.get(page.as_uri())
            found.pictures[article(page)] = browser.execute_script(SHOWN)
        if page in chosen:
            found.serious.update({(page, colours): said for colours, said in axe(browser).items()})
    return found


def axe(browser: WebDriver) -> dict[str, list[str]]:
    """Colours -> what is serious. In the dark only colours differ."""
    browser.execute_script(STILL + FEWER)
    found = {"light": serious(browser)}
    scheme(browser, "dark")
    WebDriverWait(browser, 10).until(lambda one: one.execute_script(DARK))
    return found | {"dark": serious(browser, only=("color-contrast",))}


def test_a_browser_shows_every_picture_of_every_page(visits: Visits, site: Path) -> None:
    shown = {page: visits.pictures[article(page)] for page in pages(site)}
    assert sum(map(len, shown.values())) > 50
    assert {page: found for page, found in shown.items() if not all(seen for _, seen, *_ in found)} == {}


def test_every_figure_of_the_solved_run_is_there_with_its_words(visits: Visits, site: Path) -> None:
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
            pictures = visits.pictures[article(site / "release" / name / f"{notebook}.html")]
            drawn = [alt for _, _, alt, output in pictures if output]
            assert len(drawn) == len(figures), (name, notebook)
            assert all(len(alt.split()) >= 4 for alt in drawn), (name, notebook, drawn)
            found += len(figures)
    assert found > 40


def test_the_gallery_shows_every_figure_of_the_solved_run(sites: dict[str, Path]) -> None:
    course, figures = Course(ROOT), 0
    for name in course.assignments():
        for outputs in (kept(course, Assignment.open(course, name)) or {}).values():
            figures += sum("image/png" in one.get("data", {}) for shown in outputs.values() for one in shown)
    pictures = parsed(sites["own"] / "docs" / "gallery.html").pictures
    drawn = [one for one in pictures if one["alt"].startswith("The figure of ")]
    assert len(drawn) == figures > 60


def test_every_other_picture_is_there_and_no_page_has_a_title_or_an_id_twice(site: Path) -> None:
    for page in pages(site):
        for picture in parsed(page).pictures:
            assert picture.get("alt"), (page, picture)
            if not picture["src"].startswith("data:"):
                Image.open(target(page, picture["src"])[0]).verify()
        assert [name for name, times in parsed(page).ids.items() if times > 1] == [], page
        assert parsed(page).titles == 1, page


def kinds(every: Sequence[Path]) -> list[Path]:
    """Pages in which every kind of part occurs that any page has: those with most that is new."""
    left = set().union(*(parsed(page).parts for page in every))
    chosen: list[Path] = []
    while left:
        chosen.append(max(every, key=lambda page: (len(parsed(page).parts & left), str(page))))
        left -= parsed(chosen[-1]).parts
    return chosen


#: A button whose colour changes slowly has the one of the other scheme for a moment.
STILL = """
const still = document.createElement("style");
still.textContent = "* { transition: none !important; animation: none !important }";
document.head.append(still);
"""
#: Of a block of code, one word of each colour is enough: thousands have the same.
FEWER = """
const seen = new Set();
for (const word of document.querySelectorAll(".highlight span, .output span")) {
  const block = word.closest("div.highlight, div.output"), look = `${block?.parentElement.className} ${word.className}`;
  if (word.children.length === 0 && seen.has(look)) word.remove();
  seen.add(look);
}
"""
SHADES = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)"
DARK = f"return {SHADES}.every(part => part < 60)"


@needs_axe
def test_axe_finds_nothing_serious(visits: Visits) -> None:
    """On pages that have all kinds of parts, of both sites; EVERY_PAGE=1 looks at all of them."""
    assert len(visits.serious) > 10
    assert {place: said for place, said in visits.serious.items() if said} == {}


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


@cache
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
    # one search for all: each begins with 40 characters that are looked up
    starts = {line[:40]: line for line in secrets}
    for path in (path for path in site.rglob("*") if path.is_file()):
        text = path.read_bytes().decode(errors="replace")
        if path.suffix == ".html":
            text = html.unescape(re.sub(r"<[^>]+>", "", text))
        elif path.suffix in (".ipynb", ".js"):
            text = text.replace('\\"', '"')
        elif path.suffix == ".png":
            text = f"{Image.open(path).info}"
        found += [(str(path), secrets[starts[begin]]) for begin in starts if begin in text and starts[begin] in text]
    assert found == []


def test_the_front_page_says_what_it_is_on_one_screen_and_its_picture_begins_there(
    browser: WebDriver, site: Path
) -> None:
    browser.get((site / "index.html").as_uri())
    title, text, picture = browser.execute_script(
        "return ['h1', 'p', 'img'].map(one => document.querySelector(`article ${one}`).getBoundingClientRect().top"
        " / innerHeight)"
    )
    assert 0 < title < text < picture < 0.9


def test_dark_mode_is_dark_and_a_phone_need_not_scroll_sideways(
    browser: WebDriver, site: Path, photograph: Photograph
) -> None:
    for name in ("index.html", "course.html", FIRST):
        scheme(browser, "light")
        browser.get((site / name).as_uri())
        browser.execute_script(STILL)
        named = f"site-{site.parent.name}-{Path(name).stem}"
        photograph(browser, f"{named}-light")
        assert browser.execute_script(f"return {SHADES}.every(part => part > 200)"), name
        assert overflow(browser, 390) == 0, name
        photograph_phone(browser, photograph, f"{named}-phone")
        scheme(browser, "dark")
        assert WebDriverWait(browser, 10).until(lambda one: one.execute_script(DARK)), name
        browser.execute_script(f"document.querySelector('{MESSAGE}')?.scrollIntoView({{block: 'center'}})")
        photograph(browser, f"{named}-dark")


@needs_axe
def test_another_course_with_a_long_title_and_coloured_output_can_be_read_too(
    browser: WebDriver, tmp_path: Path
) -> None:
    codes = [f"{code}" for base in (30, 40, 90, 100) for code in range(base, base + 8)]
    codes += ["1;31", "31;44", *(f"{kind};5;{number}" for kind in (38, 48) for number in (9, 16, 21, 51, 231, 244))]
    text = " ".join(f"\x1b[{code}m code-{number}\x1b[0m" for number, code in enumerate(codes))
    output = nbformat.v4.new_output("stream", text=text)
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell("# A title"), nbformat.v4.new_code_cell("show()", outputs=[output])
    ])  # fmt: skip
    (tmp_path / "README.md").write_text("# A course\n\nRead [it](release/x/1.ipynb).\n")
    page = Page(Lesson("x", "1", "A title", "1", 9), notebook, notebook)
    title = "An introduction to the computational physics of materials, for engineers"
    build(Site(title, "o/n", tmp_path, "README.md", [page], {}), tmp_path / "site")
    for name in ("index", "course", "release/x/1"):
        scheme(browser, "light")
        browser.get((tmp_path / "site" / f"{name}.html").as_uri())
        assert overflow(browser, 390) == 0, name
        assert axe(browser) == {"light": [], "dark": []}, name
    printed = browser.execute_script("return document.querySelector('.cell_output').textContent")
    assert printed.count("code-") == len(codes)


def photograph_phone(browser: WebDriver, photograph: Photograph, name: str) -> None:
    """At the first figure that a cell draws, where there is one."""
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_script("document.querySelector('.cell_output img')?.scrollIntoView({block: 'end'})")
    photograph(browser, name)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

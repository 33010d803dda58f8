"""Scripts from a submission do nothing: in the feedback page, and in the formgrader's view of what is saved."""

import base64
import json
import random
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbgrader.server_extensions.formgrader import handlers
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from traitlets.config import Config

from autograder.feedback import write_feedback
from autograder.model import submitted_cells
from autograder.model.course import Course
from autograder.model.submitted_cells import SubmittedCell, read_submitted
from autograder.pipeline.inert import TAGS
from autograder.pipeline.markdown import SHOWN_AS_TEXT, harmless_markdown, is_harmless_markdown
from autograder.pipeline.sanitize import clean_html, harmless
from tests.feedback import toy
from tests.feedback.browser import needs_browser
from tests.feedback.injections import HACK, OUTPUTS, SVG, TEXTS, extra


def in_browser(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.slow(needs_browser(test))


CSP = re.compile(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>")


@cache
def formgrader_exporter() -> HTMLExporter:
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    return HTMLExporter(config=config)


def formgrader_page(notebook: Path) -> str:
    """What nbgrader's SubmissionHandler sends to the instructor's browser."""
    names = ("assignment_id", "notebook_id", "submission_id", "student", "last_name", "first_name", "notebook_path")
    resources: dict[str, object] = dict.fromkeys(names, "x") | {"index": 0, "total": 1, "base_url": ""}
    page, _ = formgrader_exporter().from_filename(str(notebook), resources=resources)
    return str(page)


def was_hacked(driver: WebDriver, page: str, path: Path) -> bool:
    """Open the page, push every button and follow every suspicious link on it."""
    path.write_text(page, encoding="utf-8")
    driver.get(path.as_uri())
    for bait in driver.find_elements(By.CSS_SELECTOR, "#bait, a[href^='javascript' i], [onclick]"):
        driver.execute_script("arguments[0].click()", bait)
    driver.execute_async_script("setTimeout(arguments[0], 60)")
    return "hacked" in driver.title or driver.find_elements(By.TAG_NAME, "iframe") != []


@in_browser
def test_the_attempts_succeed_where_nothing_stops_them(browser: WebDriver, tmp_path: Path) -> None:
    raw = [output.data["text/html"] for output in OUTPUTS.values() if "text/html" in output.get("data", {})]
    found = [was_hacked(browser, f"<html><body>{text}</body></html>", tmp_path / "raw.html") for text in raw]
    assert sum(found) >= 8, found


@in_browser
def test_they_succeed_in_the_stock_formgrader(browser: WebDriver, course: Course, tmp_path: Path) -> None:
    tries = [{"outputs": (OUTPUTS[name],)} for name in ("a script", "an onerror", "a javascript link")]
    tries += [{"answers": {"why": TEXTS[name]}} for name in ("an onerror", "a javascript link", "a diagram")]
    for tried in tries:
        toy.hand_in(course, "stock", **tried, clean=False)  # type: ignore[arg-type]
        saved = course.autograded("stock", toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb"
        assert was_hacked(browser, formgrader_page(saved), tmp_path / "stock.html"), tried


@in_browser
def test_no_output_and_no_text_does_anything(browser: WebDriver, course: Course, tmp_path: Path) -> None:
    """All at once, each output and each text for itself: cells are cleaned one by one."""
    texts = tuple(extra(f"{text}\n\nand more") for text in TEXTS.values())
    pasted = tuple(SubmittedCell(text, "markdown", None, pictures) for text, pictures in BAD.values())
    toy.hand_in(course, "mallory", outputs=tuple(OUTPUTS.values()), extra=texts + pasted)
    page = _look(browser, course, tmp_path)
    assert page.count("and more") >= len(texts) and "It is a softmax." in page, "the rest of the page is there"


@in_browser
@pytest.mark.parametrize("name", TEXTS)
def test_an_answer_does_nothing(browser: WebDriver, course: Course, tmp_path: Path, name: str) -> None:
    toy.hand_in(course, "mallory", answers={"why": TEXTS[name]})
    _look(browser, course, tmp_path)


def _look(browser: WebDriver, course: Course, tmp_path: Path) -> str:
    (path,) = write_feedback(course, toy.ASSIGNMENT, "mallory")
    page = path.read_text(encoding="utf-8")
    assert not was_hacked(browser, page, tmp_path / "page.html")
    bare = CSP.sub("", page)
    assert bare != page
    assert not was_hacked(browser, bare, tmp_path / "bare.html"), "inert even where the browser knows no policy"
    saved = course.autograded("mallory", toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb"
    assert not was_hacked(browser, formgrader_page(saved), tmp_path / "formgrader.html")
    return page


@in_browser
def test_the_policy_alone_stops_a_script(browser: WebDriver, course: Course, tmp_path: Path) -> None:
    toy.hand_in(course, "mallory")
    (path,) = write_feedback(course, toy.ASSIGNMENT, "mallory")
    page = path.read_text(encoding="utf-8").replace("<article>", f"<article><script>{HACK}</script>")
    assert not was_hacked(browser, page, tmp_path / "page.html")


def test_the_formgrader_uses_the_template_that_is_tested_here() -> None:
    assert (Path(handlers.template_path) / "formgrade" / "index.html.j2").is_file()


@pytest.mark.parametrize("name", TEXTS)
def test_a_dangerous_text_stays_readable(name: str) -> None:
    saved = harmless_markdown(TEXTS[name])
    assert is_harmless_markdown(saved)
    if saved != TEXTS[name]:
        assert saved.startswith(SHOWN_AS_TEXT) and TEXTS[name] in saved


@pytest.mark.parametrize(
    "text",
    [
        "Plain *text* with `<script>` in code, $a < b$ and 3 < 4.",
        "```html\n<script>alert(1)</script>\n```",
        "<details><summary>Hint 2</summary>\n\nThe scores are `(batch, heads)`.\n\n</details>",
        "[a page](https://example.org/a?b=c#d) and [a file](../data/x.csv) and <https://example.org>",
        "[![badge](https://example.org/badge.svg)](https://example.org)",
        "<!-- a note --> text",
        '<div class="box" style="border: 1px solid #ccc">text</div>',
        "List[int] and a<b>c</b>",
    ],
)
def test_an_ordinary_text_is_left_alone(text: str) -> None:
    assert harmless_markdown(text) == text


def test_marks_in_nbgraders_terms_survive() -> None:
    outputs = [
        nbformat.v4.new_output("error", ename="failed", evalue="no", traceback=["why"]),
        nbformat.v4.new_output("execute_result", data={"text/plain": "1.5"}, execution_count=3),
    ]
    cell = nbformat.v4.new_code_cell(
        "x", outputs=outputs, metadata=toy.marks("a", grade=True, solution=False, points=2)
    )
    kept = harmless(nbformat.v4.new_notebook(cells=[cell])).cells[0].outputs
    assert kept == outputs


def test_outputs_of_every_wrong_kind_end_as_something_valid() -> None:
    strange = [
        {"output_type": "display_data", "data": {"text/html": {"a": 1}, "image/png": 7}, "metadata": None},
        {"output_type": "display_data", "data": None},
        {"output_type": "stream", "name": "x", "text": ["a", "b", 3]},
        {"output_type": "error", "ename": 1, "evalue": None, "traceback": "x"},
        {"output_type": "execute_result", "data": {"text/plain": ["1", "2"]}, "execution_count": "x"},
        {"output_type": "update_display_data", "data": {}},
        {},
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", id="x")])
    notebook.cells[0]["outputs"] = [nbformat.from_dict(output) for output in strange]
    clean = harmless(notebook)
    nbformat.validate(clean)
    assert len(clean.cells[0].outputs) == 5


def test_a_table_and_a_picture_survive() -> None:
    table = "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"
    assert clean_html(table) == table
    picture = '<img src="data:image/png;base64,iVBORw0KGgo=" alt="x">'
    assert clean_html(picture) == picture
    assert clean_html('<img src="https://example.org/pixel.png">') == "<img>"


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SIGN = base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="9"/></svg>')
EVIL = base64.b64encode(SVG.encode()).decode()
QUOTED = f'x" onerror="{HACK}'
#: What is pasted -> (text, attachments).
BAD = {
    "an SVG with a script": ("![x](attachment:a.svg)", {"a.svg": {"image/svg+xml": EVIL}}),
    "an SVG as it is": ("![x](attachment:a.svg)", {"a.svg": {"image/svg+xml": SVG}}),
    "HTML called a PNG": ("![x](attachment:a.png)", {"a.png": {"image/png": f"<img src=x onerror='{HACK}'>"}}),
    "HTML in base64": ("![x](attachment:a.png)", {"a.png": {"image/png": base64.b64encode(SVG.encode()).decode()}}),
    "a kind that breaks out": ("![x](attachment:a.png)", {"a.png": {f'image/png" onerror="{HACK}': PNG}}),
    "a name that breaks out": (f"![x](<attachment:{QUOTED}>)", {QUOTED: {"image/png": PNG}}),
    "a tag that breaks out": (f'<img src="attachment:a.png" onerror="{HACK}">', {"a.png": {"image/png": PNG}}),
    "a page": ("![x](attachment:a.html)", {"a.html": {"text/html": f"<script>{HACK}</script>"}}),
    "none at all": ("![x](attachment:gone.png)", {}),
}


@in_browser
def test_a_pasted_picture_is_seen_in_feedback_and_formgrader(
    browser: WebDriver, course: Course, tmp_path: Path
) -> None:
    png = {"image/png": PNG}
    pictures = {"my proof.png": png, "b.svg": {"image/svg+xml": SIGN.decode()}, "c.png": png}
    text = (
        "On paper:\n\n![proof](attachment:my%20proof.png) ![b](attachment:b.svg) "
        '<img src="attachment:c.png" width="9"/>'
    )
    toy.hand_in(course, "ada", extra=(SubmittedCell(text, "markdown", None, pictures),))
    saved = course.autograded("ada", toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb"
    write_feedback(course, toy.ASSIGNMENT, "ada")
    page = (course.root / "feedback" / "ada" / toy.ASSIGNMENT / f"{toy.NOTEBOOK}.html").read_text()
    for number, shown in enumerate((page, formgrader_page(saved))):
        path = tmp_path / f"{number}.html"
        path.write_text(shown, encoding="utf-8")
        browser.get(path.as_uri())
        images = browser.find_elements(By.CSS_SELECTOR, "img[src^='data:image']")
        assert len(images) == 3
        assert all(int(image.get_property("naturalWidth") or 0) > 0 for image in images)


def test_pictures_are_bounded_and_outputs_with_the_same_looks_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitted_cells, "MAX_PICTURE_BYTES", 20_000)
    monkeypatch.setattr(submitted_cells, "MAX_PICTURES_BYTES", 50_000)
    pictures = {f"{number}.png": {"image/png": "A" * 15_000} for number in range(5)}
    pictures["z.png"] = {"image/png": "A" * 30_000}
    cell = {"cell_type": "markdown", "metadata": {}, "source": "x", "attachments": pictures}
    notes: list[str] = []
    (read,) = read_submitted(json.dumps({"cells": [cell]}).encode(), notes)
    assert list(read.attachments) == ["0.png", "1.png", "2.png"]
    assert "pictures were left out" in notes[0]


#: ␣ is a space and ␤ a line break.
PIECES = r"""
<script> </script> <img␣src=x␣onerror=alert(1)> <img␣src='x'␣onerror='alert(1)'> <b> </b> <!-- --> --!> <svg
/onload=1> ` `` ``` ```mermaid ␤ ␤␤ ␣␣␣␣ >␣ *␣ [ ]( javascript:alert(1)) ](javascript:alert(1)) ]:␣javascript:x [a]
<a␣href=' '> ' < javascript:x> $ $$ \begin{a} \end{a} \\[ \\] | |--|␤ <div <details> </details> <![CDATA[ ]]> <?php ?>
&lt; &#x3c; \< ~~~ #␣ <style> </style> <textarea> <pre> </pre> data:text/html,x a <iframe␣src=x> <p␤onclick=x> ![
attachment:x) 1.␣ :␣
"""


class Harm(HTMLParser):
    """Collects tags and attributes that are not inert."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[object] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS | {"input"}:  # Markdown's own check boxes
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or re.match(r"\s*(javascript|vbscript|data:text)", value or "", re.IGNORECASE):
                self.found.append((tag, name, value))

    def handle_comment(self, data: str) -> None:
        if "<" in data or ">" in data:
            self.found.append(data)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_random_texts_render_to_nothing_that_runs(seed: int) -> None:
    pieces = [piece.replace("␣", " ").replace("␤", "\n") for piece in PIECES.split()]
    taste = random.Random(seed)
    for _ in range(600):
        text = "".join(taste.choice(pieces) for _ in range(taste.randint(1, 9)))
        harm = Harm()
        harm.feed(markdown2html_mistune(harmless_markdown(text)))
        harm.close()
        assert harm.found == [], text

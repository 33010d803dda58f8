"""Pictures pasted into answers: students and graders see them, and what is no picture does nothing."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By

from autograder.feedback import write_feedback
from autograder.model import submitted_cells
from autograder.model.course import Course
from autograder.model.submitted_cells import SubmittedCell, read_submitted
from tests.feedback import toy
from tests.feedback.browser import needs_browser
from tests.feedback.injections import HACK, SVG
from tests.feedback.test_injections import formgrader_page, was_hacked

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


def sent(text: str, attachments: dict[str, dict[str, str]]) -> SubmittedCell:
    return SubmittedCell(text, "markdown", None, attachments)


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", BAD)
def test_c4_what_is_no_picture_does_nothing(browser: WebDriver, course: Course, tmp_path: Path, name: str) -> None:
    toy.hand_in(course, "mallory", extra=(sent(*BAD[name]),))
    saved = course.autograded("mallory", toy.ASSIGNMENT) / f"{toy.NOTEBOOK}.ipynb"
    assert not was_hacked(browser, formgrader_page(saved), tmp_path / "formgrader.html")
    write_feedback(course, toy.ASSIGNMENT, "mallory")
    page = (course.root / "feedback" / "mallory" / toy.ASSIGNMENT / f"{toy.NOTEBOOK}.html").read_text()
    without_policy = page.replace("Content-Security-Policy", "X-No-Policy")
    assert not was_hacked(browser, without_policy, tmp_path / "page.html")
    assert "It is a softmax." in page  # the rest of the page is there


@pytest.mark.slow
@needs_browser
def test_c4_a_pasted_picture_is_seen_in_feedback_and_formgrader(
    browser: WebDriver, course: Course, tmp_path: Path
) -> None:
    png = {"image/png": PNG}
    pictures = {"my proof.png": png, "b.svg": {"image/svg+xml": SIGN.decode()}, "c.png": png}
    text = (
        "On paper:\n\n![proof](attachment:my%20proof.png) ![b](attachment:b.svg) "
        '<img src="attachment:c.png" width="9"/>'
    )
    toy.hand_in(course, "ada", extra=(sent(text, pictures),))
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


def test_c4_pictures_are_bounded_and_outputs_with_the_same_looks_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitted_cells, "MAX_PICTURE_BYTES", 20_000)
    monkeypatch.setattr(submitted_cells, "MAX_PICTURES_BYTES", 50_000)
    pictures = {f"{number}.png": {"image/png": "A" * 15_000} for number in range(5)}
    pictures["z.png"] = {"image/png": "A" * 30_000}
    cell = {"cell_type": "markdown", "metadata": {}, "source": "x", "attachments": pictures}
    notes: list[str] = []
    (read,) = read_submitted(json.dumps({"cells": [cell]}).encode(), notes)
    assert list(read.attachments) == ["0.png", "1.png", "2.png"]
    assert "pictures were left out" in notes[0]

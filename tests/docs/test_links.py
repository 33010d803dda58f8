"""What README and guides say of the repository is so: links, tables, commands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps.nbgraderapp import NbGraderApp

from autograder.cli import command_names
from autograder.model import cells
from tests.grading import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The addresses of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page):
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_picture_is_shown_in_a_guide():
    shown = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert set((ROOT / "docs").rglob("*.png")) == shown


def test_every_guide_is_linked_from_the_readme():
    linked = set(LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= linked


def test_the_readmes_table_of_sheets_is_that_of_the_source():
    rows = re.findall(r"(?m)^\| `(\w+)` \| (\d+) \| (\d+) \|", (ROOT / "README.md").read_text(encoding="utf-8"))
    found = {}
    for folder in (ROOT / "source").iterdir():
        notebooks = [nbformat.read(path, as_version=4) for path in folder.glob("*.ipynb")]
        points = sum(cells.max_points(cell) for book in notebooks for cell in book.cells if cells.is_graded(cell))
        if notebooks:
            found[folder.name] = (str(len(notebooks)), f"{points:g}")
    assert {sheet: (notebooks, points) for sheet, notebooks, points in rows} == found


def test_every_command_of_nbgrader_in_a_guide_exists():
    known = set(NbGraderApp.subcommands)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?m)(?:`|^)nbgrader\s+([a-z_]+)", text))
        assert named - known == set(), page.name


def test_every_command_is_in_a_guide_and_every_command_of_a_guide_exists():
    known = set(command_names())
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"`?\bautograder ([a-z]+(?:-[a-z]+)*)\b(?! class)", text))
    assert known - named == {"canvas"}  # an old name
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    assert set(re.findall(r"(?m)^autograder ([a-z]+(?:-[a-z]+)*)", blocks)) - known == set()


def test_f_the_students_page_names_packages_that_grading_has_and_one_that_it_lacks():
    page = " ".join((ROOT / "docs" / "student.md").read_text(encoding="utf-8").split())
    sentence = page.partition("packages that come with the course: ")[2].partition(".")[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = {re.split(r"[>=<]", one)[0] for one in project["dependencies"]}
    named = set(re.findall(r"`(\w+)`", sentence))
    assert {"torch", "transformers", "numpy", "einops"} < named <= ours
    assert "`scipy`" in page and "\nscipy==" not in (ROOT / "constraints.txt").read_text(encoding="utf-8")

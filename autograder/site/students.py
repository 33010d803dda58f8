"""The site of a published folder: its README as the front page, its notebooks, its Markdown; with what publishes it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.model.course import Course
from autograder.model.course_file import NO_REPOSITORY
from autograder.model.source import read_notebook
from autograder.release.findings import Finding
from autograder.release.leaks.search import Hidden, found_in
from autograder.site.build import THEME, Page, Site, build
from autograder.site.course_pages import course_pages, page_leaks

FOLDER, WORKFLOW = "site", ".github/workflows/site.yml"


def add_site(
    course: Course,
    folder: Path,
    now: Sequence[Assignment],
    earlier: Sequence[Path],
    repository: str,
    hidden: Mapping[str, Hidden],
) -> Iterator[Finding]:
    """Build the site of what lies in ``folder``, in ``folder/site``, and yield what it would give away.

    now: what is published; earlier: the folders of assignments that were published and stay; hidden: of every
    assignment that is released. Raises GradingError.
    """
    published = {path.name: {one.stem: read_notebook(one) for one in sorted(path.glob("*.ipynb"))} for path in earlier}
    pages = course_pages(course, published | {one.name: one.release for one in now})
    named = repository if repository != course.file.placeholder else NO_REPOSITORY
    shelves = {_title(folder / name): [name] for name in course.file.publish.files if name.endswith(".md")}
    title = course.file.title or course.root.name
    before = earlier[0].parents[1] if earlier else None
    build(Site(title, named, folder, "README.md", pages, shelves, before), folder / FOLDER)
    (folder / WORKFLOW).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(THEME / "pages.yml", folder / WORKFLOW)
    return site_leaks(hidden, folder / FOLDER, pages)


def site_leaks(hidden: Mapping[str, Hidden], site: Path, pages: Sequence[Page]) -> Iterator[Finding]:
    """What a site gives away: a page of an assignment something of this one, any other page something of any.

    hidden: assignment -> what its students must not see.
    """
    yield from page_leaks(hidden, site, pages, FOLDER)  # these name the cell
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=".site-") as aside:
        os.replace(site / "release", Path(aside, "release"))
        try:
            yield from found_in(site, hidden.values(), f"{FOLDER}/")
        finally:
            os.replace(Path(aside, "release"), site / "release")


def _title(path: Path) -> str:
    found = re.search(r"(?m)^#\s+(.+?)\s*$", path.read_text(encoding="utf-8"))
    return found[1] if found else path.stem

"""The site of a published folder: its README as the front page, its notebooks, its Markdown; with what publishes it."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import messages_to_mistakes
from autograder.files.temporary import TemporaryFolder
from autograder.model.course import Course
from autograder.model.course_file import NO_REPOSITORY
from autograder.model.source import read_notebook
from autograder.release.findings import Finding
from autograder.release.leaks.search import Hidden, found_in
from autograder.release.main_line import in_order, lesson, main_line
from autograder.release.solved_run import kernels_when_needed, shown_by_solution
from autograder.site.build import THEME, Page, Site, build, safe_name
from autograder.site.shown import REMOVE, code_lines, page

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


def course_pages(course: Course, published: Mapping[str, Mapping[str, NotebookNode]]) -> list[Page]:
    """A page for each notebook, in the course's order. published: assignment -> notebook -> as students get it.

    A solution that was not run by a release is run now. Raises GradingError where that fails.
    """
    line, pages = main_line(course), []
    with kernels_when_needed(course) as kernels:
        for name, notebooks in published.items():
            assignment = Assignment.open(course, name)
            shown = shown_by_solution(course, assignment, kernels)
            mistakes = messages_to_mistakes(course, assignment)
            code = code_lines(data.decode("utf-8", "replace") for data in assignment.solutions.values())
            for stem, released in notebooks.items():
                if (source := assignment.source.get(stem)) is None:  # in another language: nothing of it is run
                    source = nbformat.v4.new_notebook()
                made = page(released, source, shown.get(stem, {}), mistakes, code, course.file.library)
                pages.append(Page(lesson(line, name, stem, released), made, released))
    order = [one.slug for one in in_order(one.lesson for one in pages)]
    return sorted(pages, key=lambda one: order.index(one.lesson.slug))


def page_leaks(hidden: Mapping[str, Hidden], site: Path, pages: Sequence[Page], where: str) -> Iterator[Finding]:
    """What the pages of assignments show of their own solutions, hidden tests and expected values.

    hidden: assignment -> what its students must not see; site: the folder of the built site; where: what it is called
    in findings.
    """
    for name, secret in hidden.items():
        found = found_in(site / "release" / safe_name(name), [secret], f"{where}/release/{name}/")
        with TemporaryFolder("site-") as folder:  # by cell, where it can be mended, and formulas as they were written
            for one in pages:
                if one.lesson.assignment == name:
                    nbformat.write(one.shown, Path(folder, f"{one.lesson.name}.ipynb"))
            by_cell = found_in(Path(folder), [secret], f"{where}/release/{name}/")
        advice = f"; the tag {REMOVE!r} leaves a cell's output out of the site"
        yield from (replace(one, text=f"{one.text}{advice}") for one in by_cell or found)

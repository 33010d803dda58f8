"""Builds the project's own site in build/site: README as the front page, the course, and the guides on four shelves.

    python -m tools.own_site            # what 'make site' runs; a minute, or some more where nothing was released yet

The course's pages are those of ``autograder publish --site``, and what they must not show is searched for in the same
way. Nothing is written where something of it is found.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.files.atomic import put_in_place
from autograder.model.course import Course
from autograder.release.findings import Accepted
from autograder.release.leaks.search import hidden_of
from autograder.release.solved_run import kept
from autograder.site.build import Site, build
from autograder.site.shown import course_pages, site_leaks
from tools import gallery

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "site"
SHELVES = {
    "Study": ("roadmap", "student"),
    "Teach": (
        "instructor", "teaching", "commands", "collecting", "marking", "own-code", "exports", "lms", "site", "scale",
        "verdicts", "privacy", "jupyterhub", "container", "ci", "from-nbgrader", "from-otter",
    ),
    "Write exercises": ("writing-exercises", "plain-tests", "coverage"),
    "Maintain": (
        "../.github/CONTRIBUTING", "architecture", "security", "../.github/SECURITY", "releasing", "measured",
        "gallery", "../CHANGELOG",
    ),
}  # fmt: skip


def shelves() -> dict[str, list[str]]:
    """Title of a shelf -> its pages, as paths in the repository."""
    paths = {title: [(ROOT / "docs" / f"{name}.md").resolve() for name in names] for title, names in SHELVES.items()}
    return {title: [str(path.relative_to(ROOT)) for path in held] for title, held in paths.items()}


def solved_figures(course: Course, assignments: Sequence[Assignment]) -> list[gallery.Picture]:
    """What the solutions drew in the run that the pages show. Raises GradingError for a figure without an alt text."""
    try:
        return [
            picture
            for one in assignments
            for name, outputs in (kept(course, one) or {}).items()
            for picture in gallery.pictures(f"{one.name}/{name}", one.source[name], outputs)
        ]
    except ValueError as error:
        raise GradingError(str(error)) from None


def make(target: Path) -> tuple[int, int]:
    """Build the site in the place of ``target``; returns (pages, bytes). Raises GradingError."""
    course = Course(ROOT)
    assignments = [Assignment.open(course, name) for name in course.assignments()]
    pages = course_pages(course, {one.name: one.release for one in assignments})
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as temporary:
        made, drawn = Path(temporary, "site"), Path(temporary, "drawn")
        figures = solved_figures(course, assignments)
        (drawn / gallery.FOLDER).mkdir(parents=True)
        for one in figures:
            (drawn / gallery.FOLDER / one.file).write_bytes(one.png)
        texts = {gallery.PAGE: gallery.page(figures)}
        title, repository = course.file.title, course.file.repository
        build(Site(title, repository, ROOT, "README.md", pages, shelves(), earlier=drawn, texts=texts), made)
        if found := Accepted.of_course(ROOT).left(site_leaks(hidden_of(course, assignments), made, pages)):
            raise GradingError("the site would leak:\n" + "\n".join(map(str, found)))
        files = [path for path in made.rglob("*") if path.is_file()]
        size = len([path for path in files if path.suffix == ".html"]), sum(path.stat().st_size for path in files)
        put_in_place(made, target, Path(temporary, "old"))
    return size


def main() -> None:
    start = time.monotonic()
    try:
        pages, size = make(TARGET)
    except GradingError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    print(f"{TARGET / 'index.html'}: {pages} pages, {size / 1e6:.1f} MB, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()

"""Notebooks in the order in which students should take them, as ``[main_line]`` in ``course.toml`` has it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import quote

from nbformat import NotebookNode

from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import MainLine

#: The first heading, without the notebook's number in its assignment, which is not the step's.
_TITLE = re.compile(r"^#\s+(?:\d+\s*[·.:]\s*)?(.+?)\s*$", re.MULTILINE)
_MINUTES = re.compile(r"\b(\d+) minutes\b")


@dataclass(frozen=True)
class Lesson:
    """One notebook, as a list of the course shows it.

    minutes: as its first cell says; 0 where it does not. step: its number on the main line; 0 for any other notebook.
    after: of an elective, the step that should come before.
    """

    assignment: str
    name: str
    title: str
    points: str
    minutes: int
    step: int = 0
    after: int = 0

    @property
    def slug(self) -> str:
        return f"{self.assignment}/{self.name}"

    @property
    def path(self) -> str:
        """In the published folder."""
        return f"release/{self.slug}.ipynb"

    @property
    def link(self) -> str:
        """The path as Markdown and addresses have it."""
        return quote(self.path)

    def __iter__(self) -> Iterator[str]:
        """(assignment, notebook, points): so a course's own template may take it apart."""
        return iter((self.assignment, self.name, self.points))


def lesson(line: MainLine, assignment: str, name: str, notebook: NotebookNode) -> Lesson:
    text = "\n".join(cell.source for cell in notebook.cells[:2] if cell.cell_type == "markdown")
    title, minutes = _TITLE.search(text), _MINUTES.search(text)
    points = sum(cells.max_points(cell) for cell in notebook.cells if cells.is_graded(cell))
    numbers = {slug: number for number, slug in enumerate(line.steps, 1)}
    slug, found = f"{assignment}/{name}", title[1].replace("|", "\\|") if title else name
    step, after = numbers.get(slug, 0), numbers.get(line.electives.get(slug, ""), 0)
    return Lesson(assignment, name, found, f"{points:g}", int(minutes[1]) if minutes else 0, step, after)


def in_order(lessons: Iterable[Lesson]) -> list[Lesson]:
    """The main line, the electives by the step that they follow, the rest by name."""
    last = 1 << 16
    return sorted(lessons, key=lambda one: (one.step or last, one.after or last, one.slug))


def main_line(course: Course) -> MainLine:
    """What ``course.toml`` says, without notebooks that were taken out of the course.

    Raises GradingError for a name that can only be a mistake: one much like that of a notebook which is not named.
    """
    line = course.file.main_line
    there = {f"{name}/{path.stem}" for name in course.assignments() for path in course.source(name).glob("*.ipynb")}
    unnamed = there.difference(line.steps, line.electives)
    for slug in (*line.steps, *line.electives):
        meant = [] if slug in there else get_close_matches(slug, unnamed, 1, 0.8)
        if meant:
            raise GradingError(f"course.toml: [main_line]: there is no notebook {slug!r}; did you mean {meant[0]!r}?")
    steps = tuple(slug for slug in line.steps if slug in there)
    return MainLine(steps, {slug: before for slug, before in line.electives.items() if slug in there})

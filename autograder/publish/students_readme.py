"""The students' README.md: what its template is filled in with, and the instructor's own words around our part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import nbformat
from jinja2 import Environment, StrictUndefined, TemplateError

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.course_file import SENTENCES, MainLine
from autograder.release.main_line import Lesson, in_order, lesson

_END = "<!-- /published -->"
#: Between these lines README.md is written anew each time; before and after them it is the instructor's.
_OURS = re.compile(r"<!-- published: .*? -->\n.*?<!-- /published -->\n?", re.DOTALL)


def students_readme(course: Course, template: str, lessons: Sequence[Lesson], repository: str) -> str:
    """The template, filled in. Raises GradingError where it cannot be."""
    words = {
        "title": course.file.title or course.root.name,
        "repository": repository,
        "notebooks": lessons,
        "start": next(iter(lessons), None),
        "deliverables": {one.assignment: course.file.deliverables[one.assignment] for one in lessons
                         if one.assignment in course.file.deliverables},
    }  # fmt: skip
    try:
        page = Environment(undefined=StrictUndefined, autoescape=False).from_string(template).render(words) + "\n"
    except (TemplateError, TypeError, ValueError) as error:  # the last two: a row is taken apart in another way
        raise GradingError(f"{course.file.publish.readme or 'README.md'} cannot be filled in: {error}") from error
    rule = SENTENCES.get(course.file.assistants, "")
    if not rule:
        return page
    return page.replace(_END, f"\n{rule}\n{_END}") if _END in page else f"{page}\n{rule}\n"


def with_own_words(path: Path, page: str) -> str:
    """The page, with what the instructor wrote before and after our part of the one that is there."""
    before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if not _OURS.search(before):
        return page
    return _OURS.sub(lambda _: page, before, count=1)


def lessons_of(line: MainLine, sheets: Sequence[Assignment], folder: Path, kept: Sequence[str]) -> list[Lesson]:
    """What is published now, and what lies in the folder since an earlier time, in the course's order."""
    found = [lesson(line, sheet.name, name, book) for sheet in sheets for name, book in sheet.release.items()]
    for assignment in kept:
        for path in (folder / "release" / assignment).glob("*.ipynb"):
            found.append(lesson(line, assignment, path.stem, nbformat.read(path, as_version=4)))
    return in_order(found)

"""The pages of a course's notebooks, and whether a site that shows them gives an answer away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import messages_to_mistakes
from autograder.files.temporary import TemporaryFolder
from autograder.model.course import Course
from autograder.release.findings import Finding
from autograder.release.leaks.search import Hidden, found_in
from autograder.release.main_line import in_order, lesson, main_line
from autograder.release.solved_run import kernels_when_needed, shown_by_solution
from autograder.site.build import Page, safe_name
from autograder.site.shown import REMOVE, code_lines, page


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

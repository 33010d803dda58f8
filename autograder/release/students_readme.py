"""The students' README.md: the rows of its table, and the instructor's own words around our part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.assignment import Assignment

#: Between these lines README.md is written anew each time; before and after them it is the instructor's.
_OURS = re.compile(r"<!-- published: .*? -->\n.*?<!-- /published -->\n?", re.DOTALL)


def with_own_words(path: Path, page: str) -> str:
    """The page, with what the instructor wrote before and after our part of the one that is there."""
    before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if not _OURS.search(before):
        return page
    return _OURS.sub(lambda _: page, before, count=1)


def rows_of(sheets: list[Assignment]) -> Iterator[tuple[str, str, str]]:
    for sheet in sheets:
        yield from (_row(sheet.name, name, notebook) for name, notebook in sheet.release.items())


def rows_there(folder: Path, kept: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for assignment in kept:
        for path in sorted((folder / "release" / assignment).glob("*.ipynb")):
            yield _row(assignment, path.stem, nbformat.read(path, as_version=4))


def _row(assignment: str, name: str, notebook: NotebookNode) -> tuple[str, str, str]:
    points = sum(cells.max_points(cell) for cell in notebook.cells if cells.is_graded(cell))
    return assignment, name, f"{points:g}"

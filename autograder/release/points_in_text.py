"""The points that a notebook's text promises, held against those that its cells give."""

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.verdict import total
from autograder.release.findings import Finding, pinned

_NUMBER = r"(?<![\d.,])(\d+(?:\.\d+)?)"
_TOTAL = re.compile(rf"{_NUMBER} points?\b")
_HEADING = re.compile(rf"(?m)^#+ .*\({_NUMBER} points?\)\s*$")
_ANY_HEADING = re.compile(r"(?m)^#+ ")


def wrong_points(where: str, notebook: NotebookNode) -> Iterator[Finding]:
    """Every number of points in the text that its cells do not add up to: the first cell's total, tables with a column
    "points", headings that end with "(5 points)". Only a note where no graded cell follows at all: then those points
    are given elsewhere.

    A table or heading speaks of the cells below it, up to a later one; a table may also speak of the whole notebook.
    """
    for place, text, given in _wrong(notebook):
        cell = notebook.cells[place]
        at = f"{where}, {cells.place(cell, place)}"
        yield pinned("points", at, text, cell.source, f"{given:g}", blocks=given > 0)


def _wrong(notebook: NotebookNode) -> Iterator[tuple[int, str, float]]:
    """(place of the cell, what is wrong, the points that there are)"""
    whole = total(map(_points, notebook.cells))
    markdown = [(place, cell.source) for place, cell in enumerate(notebook.cells) if cell.cell_type == "markdown"]
    tables = {place: sums for place, text in markdown if (sums := list(_tables(text)))}
    headings = {place: float(match[1]) for place, text in markdown if (match := _HEADING.search(text))}
    if markdown and len(said := _TOTAL.findall(markdown[0][1])) == 1 and float(said[0]) != whole:
        yield markdown[0][0], f"the text says {float(said[0]):g} points, the notebook has {whole:g}", whole
    for place, sums in tables.items():
        below = _below(notebook, place, [other for other in tables if other > place])
        for promised in sums:
            if promised not in {*below, whole}:
                yield place, _said(promised, below[0], "table"), below[0]
    ends = [place for place, text in markdown if _ANY_HEADING.search(text)]
    for place, promised in headings.items():
        below = _below(notebook, place, [end for end in ends if end > place])
        if promised not in below:
            yield place, _said(promised, below[0], "heading"), below[0]


def _said(promised: float, given: float, what: str) -> str:
    return f"the {what} says {promised:g} points, the graded cells below it have {given:g}"


def _points(cell: NotebookNode) -> float:
    return cells.max_points(cell) if cells.is_graded(cell) or cells.nbgrader(cell).get("task") else 0.0


def _below(notebook: NotebookNode, place: int, ends: list[int]) -> list[float]:
    """The points of the cells from one place to each of the ends, and to the notebook's end."""
    return [total(map(_points, notebook.cells[place:end])) for end in (*ends, len(notebook.cells))]


def _tables(text: str) -> Iterator[float]:
    """The sum of the column "points" of each Markdown table that has one with numbers in it."""
    column: int | None = None
    numbers: list[float] = []
    for line in (*text.split("\n"), ""):
        row = [field.strip() for field in line.strip().strip("|").split("|")] if line.strip().startswith("|") else []
        if not row:
            if numbers:
                yield total(numbers)
            column, numbers = None, []
        elif column is None:
            column = next((place for place, field in enumerate(row) if field.lower() == "points"), -1)
        elif 0 <= column < len(row) and re.fullmatch(_NUMBER, row[column]):
            numbers.append(float(row[column]))

"""What an exercise is called: the heading that it stands under in the instructor's notebook."""

from __future__ import annotations

import re
from collections import Counter

from nbformat import NotebookNode

from autograder.feedback.words import readable
from autograder.model import cells

_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$")
_POINTS = re.compile(r" *\((\d+([.,]\d+)? )?points?\)$")


def exercise_titles(notebook: NotebookNode | None) -> dict[str, str]:
    """Graded cell -> its title. Where a heading has several, the cell's own name tells them apart.

    notebook: as autograded, in which the cells that a student added have ids of their own.
    """
    under: dict[str, str] = {}
    heading = ""
    for cell in notebook.cells if notebook is not None else ():
        if cell.cell_type == "markdown" and not cells.is_solution(cell) and not cell.get("id", "").startswith("extra-"):
            heading = _last_heading(cell.source) or heading
        name = cells.grade_id(cell)
        if name and cells.is_graded(cell) and heading:
            under[name] = heading
    shared = Counter(under.values())
    return {name: title if shared[title] == 1 else f"{title} · {readable(name)}" for name, title in under.items()}


def _last_heading(source: str) -> str:
    found = [match[1] for line in source.split("\n") if (match := _HEADING.match(line))]
    return _POINTS.sub("", re.sub(r"[`*]", "", found[-1])).strip() if found else ""

"""Points, names, titles and results in words that people read: on feedback pages, in the report and in CI."""

import re
from collections import Counter

from nbformat import NotebookNode

from autograder.model import cells

#: status -> what a student reads.
WORDS = {
    "passed": "all right",
    "partial": "partly right",
    "failed": "not right yet",
    "crashed": "stopped before it was done",
    "timeout": "took too long",
    "missing": "not there",
    "manual": "waits to be read by a person",
    "ungradable": "could not be graded: a person looks at what was handed in",
    "infrastructure": "could not be graded: our fault, not yours, and it will be tried again",
}


def readable(name: str) -> str:
    """``2_attention_block`` -> ``2 Attention block``."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return re.sub(r"[^\W\d_]", lambda letter: letter[0].upper(), words, count=1)


def points(value: float | None) -> str:
    """Points as people write them; an en dash where nobody has decided yet."""
    return "–" if value is None else f"{round(value, 2):g}"


def in_points(value: float | None) -> str:
    """``1 point``, ``1.5 points``."""
    return f"{points(value)} point{'' if value == 1 else 's'}"


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

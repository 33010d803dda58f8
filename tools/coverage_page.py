"""Writes ``docs/coverage.md``: where each item of the course's five sources stands. ``--check`` only compares.

The items are the lines of ``docs/coverage_items.tsv``; a cell of a notebook names the items that it covers in its
metadata, ``"course": {"covers": ["1.2"]}``. An item that no cell covers needs a word in the column "changed".
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
ITEMS, PAGE = ROOT / "docs" / "coverage_items.tsv", ROOT / "docs" / "coverage.md"
SOURCES = {
    "0": "The assignment on attention in DistilBERT",
    "1": "The assignment on attention in NumPy",
    "2": "The walk through a Transformer's anatomy",
    "3": "The lab on encoders",
    "4": "The tutorial on attention and Transformers",
}


@dataclass(frozen=True)
class Place:
    """Cells of one notebook that cover an item; ``graded`` maps the graded cells of their sections to points."""

    notebook: str
    cells: list[str] = field(default_factory=list)
    graded: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    id: str
    what: str
    exercise: bool
    changed: str
    places: list[Place]


def read_items(root: Path = ROOT) -> list[Item]:
    """Every item with its places, in order."""
    places = covered(root)
    with ITEMS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [
        Item(row["id"], row["what"], row["exercise"] == "x", row["changed"], places.get(row["id"], [])) for row in rows
    ]


def covered(root: Path = ROOT) -> dict[str, list[Place]]:
    """id -> the places where cells claim it, known or not"""
    found: dict[str, dict[str, Place]] = {}
    for path in sorted((root / "source").glob("*/*.ipynb")):
        name = f"{path.parent.name}/{path.stem}"
        cells = nbformat.read(path, as_version=4).cells
        for position, cell in enumerate(cells):
            for item in cell.metadata.get("course", {}).get("covers", []):
                place = found.setdefault(item, {}).setdefault(name, Place(name))
                place.cells.append(cell.id)
                place.graded.update(graded(cells, position))
    return {item: list(notebooks.values()) for item, notebooks in found.items()}


def graded(cells: list[NotebookNode], position: int) -> Iterator[tuple[str, float]]:
    """(grade id, points) of the graded cells from here to the end of the section that this cell opens or stands in."""
    inside = next((level for cell in reversed(cells[: position + 1]) if (level := heading(cell))), 1)
    for offset, cell in enumerate(cells[position:]):
        if offset and 0 < heading(cell) <= max(inside, 2):  # a title's section is not the whole notebook
            return
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade"):
            yield marks["grade_id"], marks["points"]


def heading(cell: NotebookNode) -> int:
    """1 for a title, 2 for a chapter and so on; 0 for a cell that begins with no heading."""
    marks = cell.source.lstrip().split(" ")[0]
    return len(marks) if cell.cell_type == "markdown" and marks and set(marks) == {"#"} else 0


def problems(items: list[Item]) -> list[str]:
    """What is missing: a place or a reason, a graded cell for an exercise, an item for a claim."""
    known = {item.id for item in items}
    wrong = [
        f"{item.id}: no cell covers it, and no reason is given" for item in items if not (item.places or item.changed)
    ]
    wrong += [
        f"{item.id}: an exercise without a graded cell"
        for item in items
        if item.exercise and not any(place.graded for place in item.places)
    ]
    wrong += [
        f"{item}: claimed by {places[0].notebook}, but there is no such item"
        for item, places in covered().items()
        if item not in known
    ]
    return wrong


def page(items: list[Item]) -> str:
    lines = [
        "# What the course covers",
        "",
        "Every item of the five sources that the course goes back to, and where it stands. Written by",
        "`python -m tools.coverage_page` from the notebooks' own claims; do not edit.",
        "",
    ]
    for number, title in SOURCES.items():
        lines += [
            f"## {title}",
            "",
            "| item | what | where: first cell, graded cells (points) | changed, and why |",
            "|---|---|---|---|",
        ]
        own = [item for item in items if item.id.split(".")[0] == number]
        lines += [f"| {item.id} | {item.what} | {where(item)} | {item.changed} |" for item in own]
        lines.append("")
    return "\n".join(lines)


def where(item: Item) -> str:
    return "<br>".join(in_words(place, item.exercise) for place in item.places) or "left out"


def in_words(place: Place, exercise: bool) -> str:
    tests = ", ".join(f"`{name}` ({points:g})" for name, points in place.graded.items()) if exercise else ""
    link = f"[{place.notebook}](../source/{place.notebook}.ipynb)"
    return f"{link}: `{place.cells[0]}`" + (f"; {tests}" if tests else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page is not up to date")
    options = parser.parse_args()
    items = read_items()
    wrong = problems(items)
    if options.check and PAGE.read_text(encoding="utf-8") != page(items):
        wrong.append("docs/coverage.md is not up to date: run python -m tools.coverage_page")
    if not options.check:
        PAGE.write_text(page(items), encoding="utf-8")
    print("\n".join(wrong) or f"{len(items)} items, each with a place or a reason")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())

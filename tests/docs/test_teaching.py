"""The teaching notes: a row for every notebook, and cells that there are."""

from __future__ import annotations

import re

import nbformat

from autograder.model.course import Course
from tests.grading import ROOT

ROW = re.compile(r"(?m)^\| (\w+) (\d) \| ([^|]+) \|")


def test_the_notes_have_a_row_for_each_notebook_in_the_order_of_the_main_line() -> None:
    rows = [(assignment, number) for assignment, number, _ in ROW.findall(_page())]
    there = {(path.parent.name, path.stem[0]) for path in (ROOT / "source").glob("*/*.ipynb")}
    assert len(rows) == len(set(rows)) and set(rows) == there
    steps = [(slug.partition("/")[0], slug.partition("/")[2][0]) for slug in Course(ROOT).file.main_line.steps]
    assert rows[: len(steps)] == steps


def test_the_cells_to_show_are_there() -> None:
    for assignment, number, shown in ROW.findall(_page()):
        (path,) = (ROOT / "source" / assignment).glob(f"{number}_*.ipynb")
        ids = {cell.id for cell in nbformat.read(path, as_version=4).cells}
        assert set(re.findall(r"`([\w-]+)`", shown)) - {"knock_out"} <= ids, path


def _page() -> str:
    return (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")

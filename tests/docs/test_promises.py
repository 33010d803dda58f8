"""What guides promise is what is there: the tests that they name; notebooks and cells of the teaching notes."""

import ast
import re
from pathlib import Path

import nbformat

from autograder.model.course import Course
from tests.grading import ROOT

ROW = re.compile(r"(?m)^\| (\w+) (\d) \| ([^|]+) \|")
NOTES = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")


def test_every_test_that_the_guides_name_exists() -> None:
    """A promise is followed by the test that holds it: a file or a folder of tests, or one test in it."""
    missing = []
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md"]:
        for named in re.findall(r"`(tests/[\w./]+)(?:::(\w+))?`", page.read_text(encoding="utf-8")):
            path, test = ROOT / named[0], named[1]
            if not path.exists() or (test and test not in _tests(path)):
                missing.append((page.name, *named))
    assert missing == []


def _tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_notes_have_a_row_for_each_notebook_in_the_order_of_the_main_line() -> None:
    rows = [(assignment, number) for assignment, number, _ in ROW.findall(NOTES)]
    there = {(path.parent.name, path.stem[0]) for path in (ROOT / "source").glob("*/*.ipynb")}
    assert len(rows) == len(set(rows)) and set(rows) == there
    steps = [(slug.partition("/")[0], slug.partition("/")[2][0]) for slug in Course(ROOT).file.main_line.steps]
    assert rows[: len(steps)] == steps


def test_the_cells_to_show_are_there() -> None:
    for assignment, number, shown in ROW.findall(NOTES):
        (path,) = (ROOT / "source" / assignment).glob(f"{number}_*.ipynb")
        ids = {cell.id for cell in nbformat.read(path, as_version=4).cells}
        assert set(re.findall(r"`([\w-]+)`", shown)) - {"knock_out"} <= ids, path

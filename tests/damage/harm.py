"""Random damage to a notebook, without intent; and what nbgrader, and the rebuild, make of it.

Both are judged in one way: the cells are executed in order, errors and all, as nbgrader's Execute does, and a test that
ends without an error has its points. ``test_harm.py`` holds this against real runs.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import nbformat
from hypothesis import strategies as st
from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.cells import checksum_of
from autograder.model.submitted_cells import read_submitted
from autograder.pipeline.rebuild import rebuild
from tests.damage.lab import Cell, Notebook, name_of, retyped

#: What is done to the file: (name of the deed, numbers that say where).
Deed = tuple[str, int, int]


def merge(found: list[Cell], here: int, keep: int) -> None:
    """As Jupyter does it: the text of both, with the metadata of one."""
    here %= len(found) - 1
    first, second = found[here], found[here + 1]
    text = f"{first['source']}\n\n{second['source']}"
    found[here : here + 2] = [(first, second)[keep % 2] | {"source": text}]


def split(found: list[Cell], here: int, line: int) -> None:
    """Both halves keep the metadata, or the first alone does."""
    here %= len(found)
    lines = found[here]["source"].split("\n")
    cut = line % (len(lines) + 1)
    second = copy.deepcopy(found[here]) | {"source": "\n".join(lines[cut:])}
    if line % 2:
        second["metadata"] = {}
    found[here : here + 1] = [found[here] | {"source": "\n".join(lines[:cut])}, second]


def double(found: list[Cell], here: int, there: int) -> None:
    found.insert(there % (len(found) + 1), copy.deepcopy(found[here % len(found)]))


def begin_anew(found: list[Cell], here: int, lines: int) -> None:
    """A half-finished copy above."""
    here %= len(found)
    text = found[here]["source"]
    found.insert(here, copy.deepcopy(found[here]) | {"source": text[: len(text) // (2 + lines % 3)]})


def switch_off(found: list[Cell], here: int, kind: int) -> None:
    """A copy of another type below."""
    here %= len(found)
    other = "raw" if kind % 2 else "markdown" if found[here]["cell_type"] == "code" else "code"
    found.insert(here + 1, retyped(found[here], other) | {"source": "An earlier draft, for me"})


def retype(found: list[Cell], here: int, kind: int) -> None:
    here %= len(found)
    found[here] = retyped(found[here], ("markdown", "code", "raw")[kind % 3])


def lose_mark(found: list[Cell], here: int, _: int) -> None:
    found[here % len(found)]["metadata"] = {}


def lose_all(found: list[Cell], _: int, __: int) -> None:
    for cell in found:
        cell["metadata"] = {}


def move(found: list[Cell], here: int, there: int) -> None:
    cell = found.pop(here % len(found))
    found.insert(there % (len(found) + 1), cell)


def delete_stub(found: list[Cell], here: int, _: int) -> None:
    """Delete a cell, but none with an answer: what is gone cannot be graded."""
    if re.search("NotImplementedError|YOUR ANSWER", found[here % len(found)]["source"]):
        found.pop(here % len(found))


def elsewhere(found: list[Cell], here: int, there: int) -> None:
    """Take what stands in a cell into a new one, and leave the cell empty."""
    here %= len(found)
    cell = found[here]
    fresh = retyped({"metadata": {}, "source": cell["source"]}, cell["cell_type"])
    found[here] = cell | {"source": ""}
    found.insert(there % (len(found) + 1), fresh)


def touch(found: list[Cell], here: int, where: int) -> None:
    """White space, as editors leave it."""
    text = found[here % len(found)]["source"]
    found[here % len(found)]["source"] = f"\n{text}" if where % 2 else f"{text}\n "


_DEEDS = merge, split, double, begin_anew, switch_off, retype, lose_mark, lose_all, move, delete_stub, elsewhere, touch
DEEDS: dict[str, Callable[[list[Cell], int, int], None]] = {deed.__name__: deed for deed in _DEEDS}
numbers = st.integers(0, 30)
deeds: st.SearchStrategy[list[Deed]] = st.lists(
    st.tuples(st.sampled_from(sorted(DEEDS)), numbers, numbers), min_size=1, max_size=3
)


def damaged(notebook: Notebook, done: Iterable[Deed]) -> Notebook:
    other = copy.deepcopy(notebook)
    for name, here, there in done:
        if len(other["cells"]) > 1:
            DEEDS[name](other["cells"], here, there)
    return other


@dataclass(frozen=True)
class Graded:
    """``tests``: grade id -> whether it passed, of tests in code; ``decided``: written answers with a final 0."""

    tests: dict[str, bool]
    decided: set[str]
    text: str


def by_nbgrader(source: NotebookNode, release: NotebookNode, sent: Notebook) -> Graded:
    """DeduplicateIds, OverwriteCells and Execute, in words of our own."""
    ours = {cells.grade_id(cell): cell for cell in source.cells if cells.grade_id(cell)}
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells}
    found, seen = [], set()
    for cell in reversed(sent["cells"]):
        name, kind, text = name_of(cell), cell["cell_type"], cell["source"]
        if name in seen or name not in ours:
            name = ""
        if name:
            seen.add(name)
            kind = ours[name].cell_type
            text = ours[name].source if cells.is_locked(ours[name]) else text
        found.append((name, kind, text))
    tests, decided = executed(found[::-1], {name for name, cell in ours.items() if cells.is_autograded(cell)}), set()
    for name, _, text in found:
        if name and cells.is_manually_graded(ours[name]) and text == stubs[name]:
            decided.add(name)
    return Graded(tests, decided, "")


def by_rebuild(source: NotebookNode, release: NotebookNode, sent: Notebook) -> Graded:
    made = rebuild(source, release, read_submitted(json.dumps(sent).encode()))
    nbformat.validate(made.notebook)
    found = [(cells.grade_id(cell) or "", cell.cell_type, cell.source) for cell in made.notebook.cells]
    tests = executed(found, {cells.grade_id(cell) for cell in source.cells if cells.is_autograded(cell)})
    decided = {
        cells.nbgrader(cell)["grade_id"]
        for cell in made.notebook.cells
        if cells.is_manually_graded(cell) and cells.nbgrader(cell)["checksum"] == checksum_of(cell)
    }
    return Graded(tests, decided - made.waiting, "\n".join(text for _, _, text in found))


def executed(found: Iterable[tuple[str, str, str]], tests: set[str | None]) -> dict[str, bool]:
    space: dict[str, object] = {}
    passed = dict.fromkeys(filter(None, tests), False)
    for name, kind, text in found:
        if kind != "code":
            continue
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                exec(compile(text, "cell", "exec"), space)
        except Exception:
            continue
        if name in passed:
            passed[name] = True
    return passed

"""What one student wrote into one solution cell of the tutorial, and what the judge says of the whole notebook then.

The notebook's solution cells and hidden cells run in this process, without a kernel of their own, so that some
hundred answers take seconds. A few of them go through the stations in ``test_transformer_tutorial.py`` as well.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.verdict import NotebookVerdict
from autograder.pipeline.execute import CellOutcome, ExecutedNotebook, PartOutcome, answers_folder
from autograder.pipeline.judge import judge
from tests.grading import REFERENCES, ROOT, without_markers

SHEET = "transformer_tutorial"
ATTENTION, BLOCK, TRAINING, BIAS = "1_queries_keys_values", "2_transformer_block", "3_training", "4_bias"
#: Cells that are neither protected nor solutions, and that an answer may build on.
NEEDED = {"demo-vectors", "demo-attend"}


@dataclass(frozen=True)
class Answer:
    """``text`` is the whole cell; where there is none it is the instructor's, ``changes`` (old, new) applied to it.

    points: graded cell -> points left, for each cell that loses some; every other cell of the notebook keeps its own
    mistake: the id by which the feedback must call it; empty where it has no name
    """

    notebook: str
    cell: str
    name: str
    changes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    points: dict[str, float] = field(default_factory=dict)
    mistake: str = ""

    def __str__(self) -> str:
        return f"{self.cell.removesuffix('_answer')}: {self.name}"

    def source(self) -> str:
        """Raises AssertionError where the instructor's solution has no such line (any more)."""
        if self.text:
            return self.text
        text = solution(self.notebook, self.cell)
        for old, new in self.changes:
            assert old in text, f"{self}: the solution has no {old!r}"
            text = text.replace(old, new)
        return text


@lru_cache
def source_notebook(name: str) -> NotebookNode:
    return nbformat.read(ROOT / "source" / SHEET / f"{name}.ipynb", as_version=4)


@lru_cache
def solution(notebook: str, grade_id: str) -> str:
    """The instructor's cell without markers and without the comments that give shapes."""
    cell = next(cell for cell in source_notebook(notebook).cells if cells.grade_id(cell) == grade_id)
    return re.sub(r"  +# \(.*$", "", without_markers(cell.source), flags=re.MULTILINE)


def verdict_on(answer: Answer) -> NotebookVerdict:
    notebook = source_notebook(answer.notebook)
    with tempfile.TemporaryDirectory() as folder, as_if_grading(folder), beside_the_notebooks():
        outcomes = []
        for index, cell, space in _worked_through(answer):
            if cells.is_autograded(cell):
                os.environ["AUTOGRADER_ANSWERS"] = str(answers_folder(Path(folder), index))
                hidden = execute(cells.split_hidden(cell.source).hidden, space)
                outcomes.append(CellOutcome(index, PartOutcome("ok"), hidden))
        ran = ExecutedNotebook(notebook, outcomes, Path(folder))
        return judge(ran, REFERENCES, student="student", assignment=SHEET, notebook=answer.notebook)


def visible_failures(answer: Answer) -> dict[str, str]:
    """Graded cell -> what its visible check says against the answer, for those that fail."""
    failed = {}
    with beside_the_notebooks():
        for _, cell, space in _worked_through(answer):
            if cells.is_autograded(cell):
                ended = execute(cells.split_hidden(cell.source).visible, space)
                if ended.status != "ok":
                    failed[cell.metadata.nbgrader["grade_id"]] = f"{ended.ename}: {ended.evalue}"
    return failed


def _worked_through(answer: Answer) -> Iterator[tuple[int, NotebookNode, dict[str, Any]]]:
    """Every judged cell of the notebook, with all that stands before it and matters done in ``space``."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for index, cell in enumerate(source_notebook(answer.notebook).cells):
        grade_id = cells.grade_id(cell)
        if cells.is_autograded(cell):
            yield index, cell, space
        elif cell.cell_type == "code" and cells.is_solution(cell):
            text = answer.source() if grade_id == answer.cell else without_markers(cell.source)
            execute(text, space)
        elif grade_id in ("imports", "earlier") or cell.id in NEEDED:
            ended = execute(cell.source, space)
            assert ended.status == "ok", ended.evalue


def execute(source: str, space: dict[str, Any]) -> PartOutcome:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "<cell>", "exec"), space)
    except Exception as error:
        return PartOutcome("error", type(error).__name__, str(error))
    return PartOutcome("ok")


@contextlib.contextmanager
def beside_the_notebooks() -> Iterator[None]:
    """In an empty folder: earlier parts are the ready-made ones, whatever lies beside the source notebooks."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "exercises").symlink_to(REFERENCES.folder)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextlib.contextmanager
def as_if_grading(folder: str) -> Iterator[None]:
    """With the variables that a kernel has: answers go to ``folder``, inputs lie beneath ``<folder>/inputs``."""
    for stored in (REFERENCES.folder / SHEET).iterdir():
        if stored.is_dir():
            place = Path(folder, "inputs", SHEET, stored.name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(stored / "inputs")
    os.environ |= {"AUTOGRADER_ANSWERS": folder, "AUTOGRADER_INPUTS": str(Path(folder, "inputs"))}
    try:
        yield
    finally:
        del os.environ["AUTOGRADER_ANSWERS"], os.environ["AUTOGRADER_INPUTS"]

"""One exercise of the encoder lab with a student's code in it: the real hidden cell, run in this process, is judged.

As in grading, but without a kernel of its own, so that some hundred answers take seconds. A few of them go through
the stations in ``test_encoder_lab.py`` as well.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions

from autograder.model import cells
from autograder.model.assignment import SOLUTIONS
from autograder.model.verdict import CellVerdict
from autograder.pipeline.execute import CellOutcome, ExecutedNotebook, PartOutcome, answers_folder
from autograder.pipeline.judge import judge
from tests.grading import REFERENCES, ROOT, without_markers

#: class and method -> the statements that take the place of the solution's
Methods = Mapping[tuple[str, str], str]
#: Cells that are neither protected nor solutions, and that hidden cells of notebook 2 build on.
NEEDED = {"tokenize-pair", "load"}


@dataclass(frozen=True)
class Answer:
    """A student's answer to one exercise: new bodies for methods of ``models.py``, or the text of a solution cell."""

    exercise: str
    says: str
    code: Methods | str
    mistake: str = ""
    points: float = 0.0

    def __str__(self) -> str:
        return f"{self.exercise}: {self.says}"


@lru_cache
def solution_file() -> str:
    return without_markers((SOLUTIONS / "encoder_lab" / "models.py").read_text(encoding="utf-8"))


def stub_file() -> str:
    return (ROOT / "source" / "encoder_lab" / "models.py").read_text(encoding="utf-8")


def stub_of(exercise: str) -> dict[str, str]:
    """The exercise's solution cell as students get it; nothing where the answer is in ``models.py``."""
    for cell in notebook_of(exercise)[1].cells:
        if cells.grade_id(cell) == f"{exercise}_answer":
            stub = nbformat.from_dict(cell)
            ClearSolutions()._replace_solution_region(stub, "python")
            return {f"{exercise}_answer": stub.source}
    return {}


def models_file(methods: Methods, text: str | None = None) -> str:
    """The solution's ``models.py`` with other bodies in some methods; their docstrings stay."""
    text = solution_file() if text is None else text
    for (kind, method), body in methods.items():
        lines = text.split("\n")
        function = next(
            node
            for owner in ast.parse(text).body
            if isinstance(owner, ast.ClassDef) and owner.name == kind
            for node in owner.body
            if isinstance(node, ast.FunctionDef) and node.name == method
        )
        statements = function.body[1:]  # behind the docstring, or super().__init__()
        end = function.end_lineno
        lines[statements[0].lineno - 1 : end] = textwrap.indent(textwrap.dedent(body).strip("\n"), 8 * " ").split("\n")
        text = "\n".join(lines)
    ast.parse(text)
    return text


@lru_cache
def notebook_of(exercise: str) -> tuple[str, NotebookNode]:
    for path in sorted((ROOT / "source" / "encoder_lab").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if any(cells.grade_id(cell) == exercise for cell in notebook.cells):
            return path.stem, notebook
    raise KeyError(f"no notebook has a graded cell {exercise!r}")


def verdict_on(answer: Answer) -> CellVerdict:
    if isinstance(answer.code, str):
        return verdict(answer.exercise, {f"{answer.exercise}_answer": answer.code}, solution_file())
    return verdict(answer.exercise, {}, models_file(answer.code))


def verdict(exercise: str, answers: Mapping[str, str], models: str) -> CellVerdict:
    """What the judge says of one graded cell, whose hidden part ran behind the cells it needs."""
    name, notebook = notebook_of(exercise)
    with models_module(models), tempfile.TemporaryDirectory() as folder, answers_to(folder):
        space: dict[str, Any] = {"__name__": "__main__"}
        for index, cell in enumerate(notebook.cells):
            grade_id = cells.grade_id(cell)
            if grade_id == exercise:
                os.environ["AUTOGRADER_ANSWERS"] = str(answers_folder(Path(folder), index))
                hidden = _execute(cells.split_hidden(cell.source).hidden, space)
                ran = ExecutedNotebook(notebook, [CellOutcome(index, PartOutcome("ok"), hidden)], Path(folder))
                judged = judge(ran, REFERENCES, student="student", assignment="encoder_lab", notebook=name)
                return next(found for found in judged.cells if found.cell == exercise)
            if cell.cell_type == "code" and (grade_id == "imports" or cell.id in NEEDED or cells.is_solution(cell)):
                _execute(answers.get(grade_id or "", without_markers(cell.source)), space)
    raise KeyError(exercise)


def visible_failure(exercise: str, answers: Mapping[str, str], models: str) -> str | None:
    """What the exercise's visible check says against it; None where it passes."""
    _, notebook = notebook_of(exercise)
    with models_module(models):
        space: dict[str, Any] = {"__name__": "__main__"}
        for cell in notebook.cells:
            grade_id = cells.grade_id(cell)
            if grade_id == exercise:
                ended = _execute(cells.split_hidden(cell.source).visible, space)
                return None if ended.status == "ok" else f"{ended.ename}: {ended.evalue}"
            if cell.cell_type == "code" and (grade_id == "imports" or cell.id in NEEDED or cells.is_solution(cell)):
                _execute(answers.get(grade_id or "", without_markers(cell.source)), space)
    raise KeyError(exercise)


def _execute(source: str, space: dict[str, Any]) -> PartOutcome:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "<cell>", "exec"), space)
    except Exception as error:
        return PartOutcome("error", type(error).__name__, str(error))
    return PartOutcome("ok")


@contextlib.contextmanager
def models_module(text: str) -> Iterator[None]:
    """``models.py`` in the working folder has this text, within the block."""
    before, kept = Path.cwd(), sys.modules.pop("models", None)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "models.py").write_text(text, encoding="utf-8")
        Path(folder, "exercises").symlink_to(REFERENCES.folder)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            sys.modules.pop("models", None)
            if kept is not None:
                sys.modules["models"] = kept


@contextlib.contextmanager
def answers_to(folder: str) -> Iterator[None]:
    os.environ["AUTOGRADER_ANSWERS"] = folder
    try:
        yield
    finally:
        del os.environ["AUTOGRADER_ANSWERS"]

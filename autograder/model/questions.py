"""The section of a notebook with questions on the student's own code: how it is found, and where it is left out."""

import ast
from dataclasses import dataclass
from functools import lru_cache

from nbformat import NotebookNode

from autograder.model import cells


@dataclass(frozen=True)
class AskedQuestions:
    """A graded cell with questions on the student's own code, as its text says.

    answers: the name of the dict with the student's answers; asked: exercise -> the name of the function or class;
    imported: the statement that imports the checks; called: what the questions are asked by, such as "check.questions".
    """

    answers: str
    asked: tuple[tuple[str, str], ...]
    imported: str
    called: str


@lru_cache(maxsize=256)
def asked_questions(source: str) -> AskedQuestions | None:
    """Of a cell that imports an assignment's checks and calls ``check.questions(answers, exercise=Name, ...)``."""
    if "questions(" not in source:
        return None
    try:
        body = cells.parse(cells.split_hidden(source).visible).body
    except SyntaxError:
        return None
    imports = {
        alias.asname or alias.name: ast.unparse(node)
        for node in body if isinstance(node, ast.ImportFrom) for alias in node.names
    }  # fmt: skip
    calls = [node.value for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    for call in calls:
        match call:
            case ast.Call(ast.Attribute(ast.Name(module), "questions"), [ast.Name(answers)], keywords):
                asked = [(one.arg, one.value.id) for one in keywords if one.arg and isinstance(one.value, ast.Name)]
                if module in imports and asked:
                    return AskedQuestions(answers, tuple(asked), imports[module], f"{module}.questions")
    return None


def asking(cell: NotebookNode) -> AskedQuestions | None:
    """What a cell asks; None for all that are no graded cell with questions."""
    return asked_questions(cell.source) if cells.is_autograded(cell) else None


def asks_for_points(cell: NotebookNode) -> bool:
    """Whether a cell's questions have points: without them, only the code of who answered is run for them."""
    return asking(cell) is not None and cells.max_points(cell) > 0


def drop_questions(notebook: NotebookNode) -> NotebookNode:
    """Take the section out: the cell that asks, and each whose name begins with its name. Returns the notebook."""
    names = [_plain(str(cells.grade_id(cell))) for cell in notebook.cells if asking(cell) is not None]
    notebook.cells = [
        cell for cell in notebook.cells
        if not any(_plain(str(cells.grade_id(cell) or cell.get("id", ""))).startswith(name) for name in names)
    ]  # fmt: skip
    return notebook


def _plain(name: str) -> str:
    return name.replace("-", "_")

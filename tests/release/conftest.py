"""A course with one assignment of this one, released and handed in by Ada; and one fork server for what is graded."""

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.model import cells
from tests.fork_servers import fork_servers_are_kept  # noqa: F401
from tests.grading import ROOT, copy_exercises

SHEET, NOTEBOOK = "numpy_attention", "1_attention"
#: Called with the cells by id (one without an id by its type) and the notebook.
Change = Callable[[dict[str, NotebookNode], NotebookNode], object]


def sheet_course(root: Path) -> Path:
    for stage in ("source", "release"):
        shutil.copytree(ROOT / stage / SHEET, root / stage / SHEET)
    shutil.copytree(ROOT / "release" / SHEET, root / "submitted" / "ada" / SHEET)
    copy_exercises(root, SHEET)
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, root)
    return root


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return sheet_course(tmp_path / "course")


def change(course: Path, stage: str, do: Change) -> None:
    """Change the first notebook of the source or the release."""
    path = course / stage / SHEET / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    do({cells.grade_id(cell) or cell.cell_type: cell for cell in notebook.cells}, notebook)
    nbformat.write(notebook, path)


def replace(name: str, old: str, new: str) -> Change:
    """Another text in one cell."""

    def do(by_id: dict[str, NotebookNode], notebook: NotebookNode) -> None:
        assert old in by_id[name].source
        by_id[name].source = by_id[name].source.replace(old, new)

    return do

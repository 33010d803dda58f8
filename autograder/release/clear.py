"""What nbgrader leaves of a solution beside its text: attachments, outputs, tags, metadata, ids. All of it goes.

nbgrader replaces the source of a cell and nothing else. A drawing that was pasted into a model answer lies in the
cell's attachments, and an extension may keep the right choice in the cell's metadata.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode

from autograder.model import cells

_MARKS = {"cell_type", "checksum", "grade", "grade_id", "locked", "points", "schema_version", "solution", "task"}
_SLIDES = {"slide", "subslide", "fragment", "skip", "notes", "-"}
#: Tags that Jupyter and its tools know.
_TAG = re.compile(r"raises-exception|skip-execution|(hide|remove)[-_](cell|input|output)|scroll-output|full-width")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MACHINE_MADE = re.compile(r"cell-\d+|[0-9a-f]{8}(-?[0-9a-f]{4,12})*")


def _flag(value: Any) -> bool:
    return isinstance(value, bool) or value == "auto"


#: Metadata of a cell that its students may get, and what a harmless value of it is.
_HARMLESS: dict[str, Callable[[Any], bool]] = {
    "collapsed": _flag,
    "deletable": _flag,
    "editable": _flag,
    "scrolled": _flag,
    "jupyter": lambda value: set(value) <= {"source_hidden", "outputs_hidden"} and all(map(_flag, value.values())),
    "slideshow": lambda value: set(value) == {"slide_type"} and value["slide_type"] in _SLIDES,
}


def cleared(notebook: NotebookNode) -> NotebookNode:
    """A copy of a notebook from which nbgrader has taken solutions and mark schemes, without their other traces.

    Of solutions, tests and tasks only the text, nbgrader's marks and harmless settings are left, and an id that says
    nothing which the notebook does not show (else nbgrader's name of the cell takes its place). In every cell an
    attachment that its text does not show is dropped: what showed it may have been a solution.
    """
    notebook = nbformat.from_dict(notebook)
    notebook.metadata.pop("widgets", None)  # the state of every widget, that of solutions among them
    taken = {cell.get("id") for cell in notebook.cells if not leaves_traces(cell)}
    shown = {word for cell in notebook.cells for word in _words(f"{cell.source} {cells.grade_id(cell)}")}
    for cell in notebook.cells:
        if "attachments" in cell:
            cell.attachments = {name: one for name, one in cell.attachments.items() if shows(cell.source, name)}
            if not cell.attachments:
                cell.pop("attachments")
        if leaves_traces(cell):
            _clear(cell, taken, shown)
    return notebook


def leaves_traces(cell: NotebookNode) -> bool:
    """Whether a release takes something out of such a cell: a solution, hidden tests, a mark scheme."""
    return cells.is_solution(cell) or cells.is_graded(cell)


def _clear(cell: NotebookNode, taken: set[str], shown: set[str]) -> None:
    marks = {name: value for name, value in cells.nbgrader(cell).items() if name in _MARKS}
    kept = {name: value for name, value in cell.metadata.items() if name in _HARMLESS and _is_harmless(name, value)}
    tags = cell.metadata.get("tags")
    if isinstance(tags, list) and (known := [tag for tag in tags if _TAG.fullmatch(str(tag))]):
        kept["tags"] = known
    cell.metadata = nbformat.from_dict({**kept, "nbgrader": marks})
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    if "id" in cell:
        if not _MACHINE_MADE.fullmatch(cell.id) and not shown.issuperset(_words(cell.id)):
            cell.id = _id(str(marks.get("grade_id", "")), taken)
        taken.add(cell.id)
    for name in set(cell) - {"attachments", "cell_type", "execution_count", "id", "metadata", "outputs", "source"}:
        del cell[name]


def _is_harmless(name: str, value: Any) -> bool:
    try:
        return _HARMLESS[name](value)
    except (AttributeError, TypeError):
        return False


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))


def _id(grade_id: str, taken: set[str]) -> str:
    """nbgrader's name of the cell, which students see anyway; a digest of it where that can be no id."""
    if _ID.fullmatch(grade_id) and grade_id not in taken:
        return grade_id
    return hashlib.sha256(grade_id.encode()).hexdigest()[:16]


def shows(text: str, attachment: str) -> bool:
    """Whether a text shows the attachment of this name."""
    return any(f"attachment:{name}" in text for name in (attachment, quote(attachment)))

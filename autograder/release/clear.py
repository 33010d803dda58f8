"""What nbgrader leaves of a solution beside its text: attachments, outputs, tags, metadata, ids. All of it goes.

nbgrader replaces the source of a cell and nothing else. A drawing that was pasted into a model answer lies in the
cell's attachments, an extension may keep the right choice in metadata, and Colab the instructor's own document.
"""

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
#: Values of settings that only say how a cell is displayed or whether it may be changed.
_FLAGS, _HIDDEN = (True, False, "auto"), {"source_hidden", "outputs_hidden"}
#: What students may get of a notebook's kernelspec and language_info.
_ABOUT = {"display_name", "file_extension", "language", "mimetype", "name", "pygments_lexer", "version"}
#: Metadata of a cell that its students may get, and what a harmless value of it is.
_HARMLESS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("collapsed", "deletable", "editable", "scrolled"), _FLAGS.__contains__),
    "alt": lambda value: isinstance(value, str),  # what a figure shows, in words
    "cellView": ("code", "form").__contains__,
    "jupyter": lambda value: (
        isinstance(value, dict) and {*value} <= _HIDDEN and all(map(_FLAGS.__contains__, value.values()))
    ),
    "slideshow": lambda value: value in [{"slide_type": one} for one in _SLIDES],
}


def cleared(notebook: NotebookNode) -> NotebookNode:
    """A copy of a notebook from which nbgrader has taken solutions and mark schemes, without their other traces.

    Of metadata nbgrader's marks and harmless settings are left, and in every cell the attachments that its text shows:
    what showed another may have been a solution. Solutions, tests and tasks lose their outputs, and an id that says
    what the notebook does not show (nbgrader's name of the cell takes its place).
    """
    notebook = nbformat.from_dict(notebook)
    accelerator = notebook.metadata.get("accelerator")
    notebook.metadata = nbformat.from_dict({
        name: {key: text for key, text in said.items() if key in _ABOUT and isinstance(text, str)}
        for name in ("kernelspec", "language_info") if isinstance(said := notebook.metadata.get(name), dict)
    })  # fmt: skip
    if accelerator in ("GPU", "TPU"):  # the machine that Colab gives the student
        notebook.metadata["accelerator"] = accelerator
    taken = {cell.get("id") for cell in notebook.cells if not leaves_traces(cell)}
    shown = {word for cell in notebook.cells for word in _words(f"{cell.source} {cells.grade_id(cell)}")}
    for cell in notebook.cells:
        pictures = {name: one for name, one in cell.get("attachments", {}).items() if shows(cell.source, name)}
        for name in set(cell) - {"cell_type", "execution_count", "id", "metadata", "outputs", "source"}:
            del cell[name]
        cell.update({"attachments": pictures} if pictures else {}, metadata=_kept(cell))
        if leaves_traces(cell):
            _clear(cell, taken, shown)
    return notebook


def leaves_traces(cell: NotebookNode) -> bool:
    """Whether a release takes something out of such a cell: a solution, hidden tests, a mark scheme."""
    return cells.is_solution(cell) or cells.is_graded(cell)


def _clear(cell: NotebookNode, taken: set[str], shown: set[str]) -> None:
    cell.metadata.pop("alt", None)
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    if "id" in cell:
        if not _MACHINE_MADE.fullmatch(cell.id) and not shown.issuperset(_words(cell.id)):
            name = cells.grade_id(cell) or ""  # students see it anyway; a digest of it where that can be no id
            usable = _ID.fullmatch(name) and name not in taken
            cell.id = name if usable else hashlib.sha256(name.encode()).hexdigest()[:16]
        taken.add(cell.id)


def _kept(cell: NotebookNode) -> NotebookNode:
    kept = {name: value for name, value in cell.metadata.items() if name in _HARMLESS and _HARMLESS[name](value)}
    tags = cell.metadata.get("tags")
    if isinstance(tags, list) and (known := [tag for tag in tags if _TAG.fullmatch(str(tag))]):
        kept["tags"] = known
    if marks := {name: value for name, value in cells.nbgrader(cell).items() if name in _MARKS}:
        kept["nbgrader"] = marks
    return nbformat.from_dict(kept)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))


def shows(text: str, attachment: str) -> bool:
    """Whether a text shows the attachment of this name."""
    return any(f"attachment:{name}" in text for name in (attachment, quote(attachment)))

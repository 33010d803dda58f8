"""Does the release say what the source says? By content, in this process, without running nbgrader.

``nbgrader generate_assignment`` is a list of preprocessors. They are run here on the source notebooks with the course's
own configuration, but for the one that writes into the gradebook; what comes out is held against ``release/``.

nbgrader replaces the source of a cell and nothing else. A drawing that was pasted into a model answer lies in the
cell's attachments, an extension may keep the right choice in metadata, and Colab the instructor's own document: all
that it leaves of a solution beside its text goes (:func:`cleared`).
"""

import ast
import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

from autograder.assignment.assignment import Assignment, read_files
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.cells import tree_of
from autograder.model.course import Course
from autograder.model.nbgrader import students_version
from autograder.model.settings import read_config
from autograder.model.source import BESIDE, MARKERS
from autograder.pipeline.fingerprint import REPOSITORY, TO_LOOK_AT
from autograder.plain.names import names_of
from autograder.release.judgeable import require_judgeable

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


@dataclass(frozen=True)
class Difference:
    """``counts``: a grade can depend on it."""

    where: str
    what: str
    counts: bool

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def check_before_grading(root: Path, assignment: Assignment) -> None:
    """Raises GradingError where a cell cannot be judged, or where source and release differ in what a grade depends on:
    code, points, ids, files. Other differences (a text that was corrected) are said on stderr.
    """
    require_judgeable(assignment)
    found = list(differences(root, assignment))
    release = f"run 'autograder release {assignment.name}'"
    for difference in (one for one in found if one.counts):
        raise GradingError(f"{assignment.name}: source and release disagree ({difference}): {release}")
    if found:
        print(
            f"{assignment.name}: the release is not what the source makes of itself now ({found[0]}). No grade depends "
            f"on it; {release} so that students get what you mean",
            file=sys.stderr,
        )


def differences(root: Path, assignment: Assignment) -> Iterator[Difference]:
    """Where ``release/`` is not what the source makes of itself, what a grade depends on first."""
    config = _for_standard_form(read_config(root))
    found = [one for name in assignment.source for one in _of_notebook(name, assignment, config)]
    found += _of_files(root, assignment)
    notebooks = sorted(Course(root).release(assignment.name).glob("*.ipynb"))
    stale = [path for path in notebooks if path.stem not in {**assignment.source, **assignment.other_languages}]
    found += [Difference(path.name, "only in the release", _has_points(path)) for path in stale]
    yield from sorted(found, key=lambda one: not one.counts)


def _for_standard_form(config: Config) -> Config:
    """The settings without those of what has been done to the notebooks: the header, the markers, attachments."""
    config.ClearMarkScheme.check_attachment_leakage = False
    for section, name in (setting.split(".") for setting in (*MARKERS, *BESIDE)):
        config[section].pop(name, None)
    return config


def _of_notebook(name: str, assignment: Assignment, config: Config) -> Iterator[Difference]:
    ours = cleared(students_version(assignment.name, name, assignment.source[name], config))
    theirs = assignment.release[name]
    if _without_ids(ours) == _without_ids(theirs):
        return
    without_traces = cleared(theirs)
    code = [cell.source for one in (assignment.source[name], theirs) for cell in one.cells if cell.cell_type == "code"]
    read = frozenset().union(*(names_of(text).loaded for text in code))  # by hidden tests, too
    essential, published = dict(_essentials(ours, read)), dict(_essentials(without_traces, read))
    for key in {**essential, **published}:
        where = f"{name}.ipynb, {key}"
        if key not in published:
            yield Difference(where, "not in the release", True)
        elif key not in essential:
            yield Difference(where, "only in the release", True)
        elif essential[key] != published[key]:
            yield Difference(where, _what(essential[key], published[key]), True)
    if essential == published:
        if list(essential) != list(published):
            yield Difference(f"{name}.ipynb", "the cells stand in another order", True)
        elif _without_ids(ours) == _without_ids(without_traces):
            yield Difference(f"{name}.ipynb", "it holds attachments, tags or metadata of the instructor's", False)
        else:
            yield Difference(f"{name}.ipynb", "text, comments or metadata differ", False)


def _has_points(path: Path) -> bool:
    """Whether a notebook has points, as far as one can tell."""
    try:
        return any(map(cells.is_graded, nbformat.read(path, as_version=4).cells))
    except Exception:  # whatever keeps it from being read
        return True


def _without_ids(notebook: NotebookNode) -> NotebookNode:
    """nbgrader gives cells of an older format, a header's among them, another id each time."""
    bare = nbformat.from_dict(notebook)
    for cell in bare.cells:
        cell.pop("id", None)
    return bare


def _what(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    part = next(part for part in ours if ours[part] != theirs.get(part))
    if part == "points" and part in theirs:
        return f"points {ours[part]:g} in the source, {theirs[part]:g} in the release"
    return f"{part} differs"


def _essentials(notebook: NotebookNode, read: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(how the cell is called, what of it a grade can depend on) of each cell of which one can. read: by any code."""
    unnamed = 0
    for cell in notebook.cells:
        marks, grade_id = cells.nbgrader(cell), cells.grade_id(cell)
        if not grade_id and (cell.cell_type != "code" or _is_form(cell.source, read)):
            continue
        unnamed += not grade_id
        about: dict[str, Any] = {"points": float(marks.get("points") or 0)}
        about |= {mark: bool(marks.get(mark)) for mark in ("grade", "solution", "locked", "task")}
        about["type of cell"] = cell.cell_type
        if cell.cell_type == "code":
            about["code"] = _code(cell.source)
        yield f"cell '{grade_id}'" if grade_id else f"unmarked code cell {unnamed}", about


def _is_form(source: str, read: frozenset[str]) -> bool:
    """Whether a cell only asks for words that no code reads, as ``NAME = ""`` in nbgrader's header, or is empty."""
    try:
        body = tree_of(source).body
    except (SyntaxError, ValueError):
        return False
    words = (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) for node in body)
    return all(words) and not names_of(source).bound & read


def _code(source: str) -> str:
    """Code without comments, layout and the repository it installs from; as it stands where it is no Python."""
    source = REPOSITORY.sub("", source)
    try:
        return ast.dump(tree_of(source))
    except (SyntaxError, ValueError):
        return source


def _of_files(root: Path, assignment: Assignment) -> Iterator[Difference]:
    theirs = read_files(Course(root).release(assignment.name), assignment.ignore)
    for name in sorted({*assignment.files, *theirs}):
        if assignment.files.get(name) != theirs.get(name):
            what = "differs" if name in assignment.files and name in theirs else "is in one of them only"
            yield Difference(name, what, Path(name).suffix.lower() not in TO_LOOK_AT)

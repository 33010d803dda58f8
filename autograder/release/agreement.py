"""Does the release say what the source says? By content, in this process, without running nbgrader.

``nbgrader generate_assignment`` is a list of preprocessors. They are run here on the source notebooks with the course's
own configuration, but for the one that writes into the gradebook; what comes out is held against ``release/``.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from autograder.release.clear import cleared
from autograder.release.judgeable import require_judgeable


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

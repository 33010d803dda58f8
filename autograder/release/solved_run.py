"""What the instructor's solution showed when it was run, cell by cell, kept for one version of the course.

``autograder release`` runs every solution, and notes the visible outputs in ``.autograder/solved/``: a site shows them,
and nothing is run twice. Where nothing is noted for this version, the solution is run once more.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.kernel.imports import imports_of
from autograder.kernel.kernels import Isolation
from autograder.model import cells
from autograder.model.course import Course, unknown_assignment
from autograder.pipeline.execute import ExecutedNotebook, Kernels
from autograder.pipeline.fingerprint import digest, machine_parts
from autograder.pipeline.grade import grade_submission
from autograder.pipeline.mark_scheme import SCHEME
from autograder.release.as_submitted import solved, without_markers
from autograder.release.calibrate import calibrated

FOLDER = ".autograder/solved"
#: notebook -> name of a cell (:func:`name_of`) -> its outputs
Shown = Mapping[str, Mapping[str, Sequence[NotebookNode]]]


def name_of(cell: NotebookNode) -> str:
    """What a cell is called in source, release and run alike."""
    return cells.grade_id(cell) or str(cell.get("id", ""))


def keep(course: Course, assignment: Assignment, ran: Mapping[str, NotebookNode]) -> None:
    """Note what the notebooks of a solved run show. No source is kept."""
    shown = {
        name: {name_of(cell): cell.outputs for cell in notebook.cells if cell.cell_type == "code" and cell.outputs}
        for name, notebook in ran.items()
    }
    content = {"version": _version(course, assignment), "notebooks": shown}
    write_file(_path(course, assignment.name), json.dumps(content, ensure_ascii=False).encode())


def kept(course: Course, assignment: Assignment) -> Shown | None:
    """What is noted for this version of notebooks, library and environment; None where nothing is."""
    try:
        data = json.loads(_path(course, assignment.name).read_text(encoding="utf-8"))
        return _read(data["notebooks"]) if data["version"] == _version(course, assignment) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


@contextmanager
def kernels_when_needed(course: Course, isolation: Isolation = "auto") -> Iterator[Callable[[], Kernels]]:
    """Kernels that are opened by the first call, and closed at the end."""
    with ExitStack() as until_done:
        yield cache(lambda: until_done.enter_context(Kernels.open(isolation, imports=imports_of(course))))


def shown_by_solution(course: Course, assignment: Assignment, kernels: Callable[[], Kernels]) -> Shown:
    """What is noted, or else what comes of one more run. Raises GradingError where a notebook could not be run."""
    if (found := kept(course, assignment)) is not None:
        return found
    limits, ran = course.file.limits, dict[str, ExecutedNotebook]()
    known = calibrated(course.root, assignment, kernels(), limits)
    graded = grade_submission(solved(known), known, kernels(), limits, ran.__setitem__)
    if missing := [name for name in assignment.source if name not in ran]:
        raise GradingError(" ".join((f"{assignment.name}/{missing[0]}.ipynb could not be run:", *graded.log[-1:])))
    keep(course, assignment, {name: executed.notebook for name, executed in ran.items()})
    return kept(course, assignment) or {}


def _version(course: Course, assignment: Assignment) -> str:
    return digest(assignment.version, machine_parts(course))


def _path(course: Course, assignment: str) -> Path:
    return course.root / FOLDER / f"{assignment}.json"


def _read(notebooks: Mapping[str, Mapping[str, Sequence[Mapping[str, object]]]]) -> Shown:
    return {
        name: {cell: [nbformat.from_dict(one) for one in outputs] for cell, outputs in found.items()}
        for name, found in notebooks.items()
    }


def write_solutions(course: Course, folder: Path, name: str) -> tuple[list[str], bool]:
    """Write ``solutions/NAME/`` into a published folder; returns the files, as paths in it, and whether they have the
    outputs of the solution: as it was run by the release, if that was of this version.

    Hidden tests are not in a release, so they are not in here either; mark schemes are left out. Raises GradingError
    where the assignment is unknown, or was not published into this folder.
    """
    if name not in course.assignments():
        raise GradingError(unknown_assignment(course, name))
    if not any((folder / "release" / name).glob("*.ipynb")):
        raise GradingError(f"{name} was not published into {folder}: expected {folder / 'release' / name}/*.ipynb")
    assignment = Assignment.open(course, name)
    shown = kept(course, assignment) or {}
    submission = solved(assignment)
    files = {f"{one}.ipynb": data for one, data in submission.notebooks.items()} | dict(submission.files)
    for file, data in files.items():
        if file.endswith(".ipynb"):
            notebook = nbformat.reads(data.decode(), as_version=4)
            for cell in notebook.cells:
                cell.source = without_markers(SCHEME.sub("", cell.source)).strip()
                if cell.cell_type == "code":
                    cell.outputs = list(shown.get(file.removesuffix(".ipynb"), {}).get(name_of(cell), ()))
            data = (nbformat.writes(notebook) + "\n").encode()
        write_file(folder / "solutions" / name / file, data)
    return [f"solutions/{name}/{file}" for file in files], bool(shown)

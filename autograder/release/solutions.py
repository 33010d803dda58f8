"""Solved notebooks for students, when nobody can hand in any more: the released ones with the solutions filled in."""

from __future__ import annotations

from pathlib import Path

import nbformat

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.model.course import Course, unknown_assignment
from autograder.pipeline.mark_scheme import SCHEME
from autograder.release.as_submitted import solved, without_markers
from autograder.release.solved_run import kept, name_of


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

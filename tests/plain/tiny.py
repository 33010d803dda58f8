"""Assignments with plain test cells, made of a few texts; no folder, no release, no torch."""

import atexit
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.kernel.kernels import Kernels
from autograder.model.limits import Limits
from autograder.model.verdict import Graded
from autograder.pipeline.grade import grade_submission
from autograder.references.store import References
from autograder.release.calibrate import calibrate
from tests.plain.entries import marks as marks_of

LIMITS = Limits(cell_seconds=10)


@cache
def kernels() -> Kernels:
    """One fork server for all tests of a process."""
    until_exit = ExitStack()
    atexit.register(until_exit.close)
    return until_exit.enter_context(Kernels.open())


def cell(text: str, name: str = "", **marks: object) -> NotebookNode:
    made = new_code_cell(text.strip("\n"), id=name or f"cell-{abs(hash(text))}")
    if name:
        made.metadata |= marks_of(name, **marks)
    return made


def solution(text: str, name: str) -> NotebookNode:
    return cell(text, name, solution=True)


def test(text: str, name: str, points: float = 1) -> NotebookNode:
    return cell(text, name, grade=True, locked=True, points=points)


test.__test__ = False  # type: ignore[attr-defined]


def assignment(*cells: NotebookNode, files: Mapping[str, bytes] = {}) -> Assignment:
    """One notebook, ``nb``. Its release has stubs that raise NotImplementedError."""
    source = new_notebook(cells=list(cells))
    release = nbformat.from_dict(source)
    for one in release.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = "# YOUR CODE HERE\nraise NotImplementedError()"
    nowhere = References.of_course(Path("/nowhere"))
    return Assignment("plain", {"nb": source}, {"nb": release}, dict(files), frozenset(), nowhere)


def submission(opened: Assignment, answers: Mapping[str, str], extra: str = "") -> Submission:
    """The released notebook with these answers; the others are the instructor's. extra: a cell put on top."""
    sent = nbformat.from_dict(opened.release["nb"])
    solutions = {one.metadata.get("nbgrader", {}).get("grade_id"): one.source for one in opened.source["nb"].cells}
    for one in sent.cells:
        name = one.metadata.get("nbgrader", {}).get("grade_id")
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = answers.get(name, solutions[name])
    if extra:
        sent.cells.insert(0, new_code_cell(extra))
    return Submission("student", {"nb": nbformat.writes(sent).encode()}, {}, ())


def calibrated(opened: Assignment, limits: Limits = LIMITS) -> Assignment:
    """With its calibration, which is made once for each assignment of a test process."""
    if opened.calibration is not None:
        return opened
    if id(opened) not in _CALIBRATED:
        made = replace(opened, calibration=calibrate(opened, kernels(), limits))
        _CALIBRATED[id(opened)] = opened, made
    return _CALIBRATED[id(opened)][1]


_CALIBRATED: dict[int, tuple[Assignment, Assignment]] = {}


def graded(opened: Assignment, answers: Mapping[str, str] = {}, extra: str = "", limits: Limits = LIMITS) -> Graded:
    made = calibrated(opened, limits)
    return grade_submission(submission(made, answers, extra), made, kernels(), limits)


def points(done: Graded) -> dict[str, float | None]:
    return {one.cell: one.points for one in done.verdict.notebooks[0].cells}

"""Grading for tests: student code goes into the real released notebook and through the real stations."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path

import nbformat

from autograder import cells
from autograder.assignment import Assignment, Submission
from autograder.grading import Graded, grade
from autograder.release import without_markers
from autograder.run import Kernels, Limits
from autograder.verdict import CellVerdict, NotebookVerdict

ROOT = Path(__file__).resolve().parent.parent


@lru_cache
def kernels() -> Kernels:
    """One template for all tests of a process."""
    until_exit = ExitStack()
    atexit.register(until_exit.close)
    return until_exit.enter_context(Kernels.open("auto"))


@lru_cache
def assignment(name: str) -> Assignment:
    return Assignment.open(ROOT, name)


def solution(assignment_name: str, notebook: str, grade_id: str) -> str:
    """The text of the instructor's solution cell, without markers: the start of most wrong answers."""
    for cell in assignment(assignment_name).source[notebook].cells:
        if cells.grade_id(cell) == grade_id:
            return without_markers(cell.source)
    raise KeyError(f"{assignment_name}/{notebook} has no cell {grade_id!r}")


def filled(assignment_name: str, notebook: str, answers: Mapping[str, str]) -> bytes:
    """The released notebook with its solution cells filled: by ``answers``, else by the instructor's solution."""
    opened = assignment(assignment_name)
    student = nbformat.from_dict(opened.release[notebook])
    known = {cells.grade_id(cell) for cell in student.cells if cells.is_solution(cell)}
    assert set(answers) <= known, f"{notebook} has no solution cells {set(answers) - known}"
    for cell in student.cells:
        grade_id = cells.grade_id(cell)
        if grade_id and cells.is_solution(cell):
            cell.source = answers[grade_id] if grade_id in answers else solution(assignment_name, notebook, grade_id)
    return nbformat.writes(student).encode()


def grade_cells(
    assignment_name: str, notebook: str, answers: Mapping[str, str], files: Mapping[str, bytes] | None = None
) -> NotebookVerdict:
    """The verdict on one notebook whose other solution cells are right. ``files``: deliverables such as models.py."""
    opened = assignment(assignment_name)
    alone = Assignment(
        opened.name,
        {notebook: opened.source[notebook]},
        {notebook: opened.release[notebook]},
        opened.files,
        opened.deliverables,
    )
    beside = opened.solution_files() if files is None else dict(files)
    submission = Submission("student", {notebook: filled(assignment_name, notebook, answers)}, beside, ())
    return grade(submission, alone, kernels(), Limits()).verdict.notebooks[0]


def grade_submission(
    assignment_name: str, notebooks: Mapping[str, bytes], files: Mapping[str, bytes] | None = None
) -> Graded:
    """A whole submission from raw notebook bytes."""
    return grade(Submission("student", notebooks, files or {}, ()), assignment(assignment_name), kernels(), Limits())


def cell_of(verdict: NotebookVerdict, grade_id: str) -> CellVerdict:
    return next(cell for cell in verdict.cells if cell.cell == grade_id)


def mistakes_of(verdict: NotebookVerdict) -> set[str]:
    """The ids of all named mistakes in a notebook's verdict."""
    return {check.mistake for cell in verdict.cells for check in cell.checks if check.mistake}

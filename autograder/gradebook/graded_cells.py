"""The cells of notebooks that were graded already. New ones nbgrader refuses, so the gradebook hears of them first."""

from __future__ import annotations

from collections.abc import Mapping

from nbformat import NotebookNode
from nbgrader.api import BaseCell, Comment, Grade, MissingEntry, Notebook
from sqlalchemy.exc import SQLAlchemyError

from autograder.errors import GradingError, gradebook_said
from autograder.gradebook.read import Gradebook, open_book
from autograder.model import cells

_MARKS = ("grade", "solution", "locked", "task")


def is_registered(cell: NotebookNode) -> bool:
    """Whether nbgrader enters the cell into its gradebook."""
    marks = cells.nbgrader(cell)
    return bool(marks.get("grade_id")) and any(marks.get(mark) for mark in _MARKS)


def read_graded_cells(db_url: str, assignment: str) -> dict[str, set[str]]:
    """notebook -> grade ids of its cells in the gradebook, for every notebook with submissions. Makes no gradebook."""
    book = open_book(db_url)
    if book is None:
        return {}
    try:
        with book:
            return {one.name: {cell.name for cell in one.source_cells} for one in _graded(book, assignment)}
    except SQLAlchemyError as error:
        raise GradingError(f"the gradebook cannot be read: {gradebook_said(error)}") from error


def _graded(book: Gradebook, assignment: str) -> list[Notebook]:
    """The notebooks that have submissions."""
    try:
        return [one for one in book.find_assignment(assignment).notebooks if one.submissions]
    except MissingEntry:
        return []


def add_cells(db_url: str, assignment: str, source: Mapping[str, NotebookNode]) -> list[str]:
    """Enter the cells of ``source`` that are new into notebooks with submissions. Returns their grade ids.

    Every submission gets an empty grade for each, so that it is graded again. Nothing is removed or changed.
    """
    book = open_book(db_url)
    if book is None:
        return []
    added: list[str] = []
    with book:
        for stored in _graded(book, assignment):
            known = {cell.name for cell in stored.source_cells}
            for cell in source[stored.name].cells if stored.name in source else ():
                grade_id = cells.grade_id(cell)
                if grade_id and grade_id not in known and is_registered(cell):
                    _add(book, stored, assignment, cell, grade_id)
                    added.append(grade_id)
        book.db.commit()
    return added


def _add(book: Gradebook, stored: Notebook, assignment: str, cell: NotebookNode, grade_id: str) -> None:
    """As nbgrader enters a cell, and what a submission has of it."""
    marks, place = cells.nbgrader(cell), (grade_id, stored.name, assignment)
    about = {"cell_type": cell.cell_type}
    if marks.get("grade"):
        made = book.add_grade_cell(*place, max_score=cells.max_points(cell), **about)
        _rows(book, stored, made, Grade)
    if marks.get("task"):
        made = book.add_task_cell(*place, max_score=cells.max_points(cell), **about)
        _rows(book, stored, made, Grade, Comment)
    if marks.get("solution"):
        _rows(book, stored, book.add_solution_cell(*place), Comment)
    book.add_source_cell(*place, source=cell.source, locked=cells.is_locked(cell), **about)


def _rows(book: Gradebook, stored: Notebook, cell: BaseCell, *kinds: type[Grade] | type[Comment]) -> None:
    for submission in stored.submissions:
        for kind in kinds:
            book.db.add(kind(cell_id=cell.id, notebook=submission))

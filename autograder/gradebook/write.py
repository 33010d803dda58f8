"""Writing verdicts into nbgrader's gradebook, whose schema stays nbgrader's own.

There is one writer. nbgrader commits a new student and a new submission by itself; the points of a submission follow in
one transaction, so that nobody reads half of them.
"""

import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    InvalidEntry,
    MissingEntry,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy.exc import DatabaseError, OperationalError, SAWarning, SQLAlchemyError

from autograder.errors import GOES_ON, GradingError, gradebook_said
from autograder.gradebook.graded_answers import read_record, settle, settling, write_record
from autograder.gradebook.read import PATIENCE, Gradebook, Key, of_students, open_book, patient, rows_of, spelt
from autograder.model import cells
from autograder.model.cells import checksum_of
from autograder.model.plain_text import one_form
from autograder.model.verdict import Graded, NotebookVerdict, SubmissionVerdict

Result = TypeVar("Result")


#: What SQLite says of a file that no waiting will help.
_HOPELESS = ("disk is full", "readonly database", "disk I/O error", "unable to open", "no such", "has no column")


@dataclass(frozen=True)
class Saved:
    """``kept_manual``: how many marks given by hand were there before and still count."""

    kept_manual: int


def open_gradebook(db_url: str, assignment: str) -> Gradebook:
    """Raises GradingError where the gradebook does not know the assignment or cannot be opened."""
    try:
        gradebook = Gradebook(patient(db_url))
        _keep_structure(gradebook, assignment)
    except MissingEntry as error:
        raise GradingError(
            f"the gradebook does not know {assignment!r}: run 'autograder release {assignment}' first"
        ) from error
    except DatabaseError as error:
        raise GradingError(f"the gradebook cannot be opened: {gradebook_said(error)}") from error
    return gradebook


def _keep_structure(gradebook: Gradebook, assignment: str) -> None:
    """Have the assignment's notebooks and cells read once, and not again after every commit, of which nbgrader makes
    several a submission. What belongs to a submission is forgotten when it has been saved."""
    session = gradebook.db()
    session.expire_on_commit = False
    entry = gradebook.find_assignment(assignment)
    session.info["structure"] = [
        entry, *((one, one.grade_cells, one.solution_cells, one.task_cells) for one in entry.notebooks)
    ]  # fmt: skip


def _forget(gradebook: Gradebook, submission: SubmittedAssignment) -> None:
    """Others may write into the gradebook meanwhile: nothing of a submission must be taken from memory."""
    for notebook in submission.notebooks:
        for entry in (*notebook.grades, *notebook.comments, notebook):
            gradebook.db.expire(entry)
    gradebook.db.expire(submission)


def save(gradebook: Gradebook, graded: Graded, timestamp: datetime | None = None, root: Path | None = None) -> Saved:
    """Write one submission's verdict. Manual grades stay; where the answer has changed, a person has to look again.

    root: the course's folder, where it is recorded what a manual grade was given for. Without it every manual grade
    has to be looked at again.
    """
    with settling(root, graded.verdict.assignment) if root is not None else nullcontext():
        return _patiently(gradebook, lambda: _save(gradebook, graded, timestamp, root))


def _patiently(gradebook: Gradebook, action: Callable[[], Result]) -> Result:
    started, pause = time.monotonic(), 0.05
    while True:
        try:
            return action()
        except (OperationalError, InvalidEntry) as raised:
            error = raised.__context__ if isinstance(raised, InvalidEntry) else raised  # nbgrader wraps some
            if not isinstance(error, OperationalError):
                raise
            gradebook.db.rollback()
            waited = "" if any(word in str(error.orig) for word in _HOPELESS) else f" for {PATIENCE:.0f} s"
            if not waited or time.monotonic() - started > PATIENCE:
                raise GradingError(
                    f"the gradebook {gradebook.engine.url.database} could not be written{waited}: "
                    f"{gradebook_said(error)}; then {GOES_ON}"
                ) from error
            time.sleep(pause)
            pause = min(2 * pause, 2.0)


def _save(gradebook: Gradebook, graded: Graded, timestamp: datetime | None, root: Path | None) -> Saved:
    verdict = graded.verdict
    before = read_record(root, verdict.assignment, verdict.student) if root is not None else {}
    student = spelt(gradebook, verdict.student)
    gradebook.update_or_create_student(student)
    when = {"timestamp": timestamp} if timestamp else {}
    with warnings.catch_warnings():
        # nbgrader builds its rows outside the session and says so at length; nothing is lost by it
        warnings.simplefilter("ignore", SAWarning)
        submission = gradebook.update_or_create_submission(verdict.assignment, student, **when)
    notebooks = {notebook.notebook: notebook for notebook in verdict.notebooks}
    record, kept = dict(before), 0
    for stored in submission.notebooks:
        if stored.name in notebooks:
            _save_notebook(stored, notebooks[stored.name], graded.notebooks.get(stored.name))
            answers = graded.answers.get(stored.name, {}) if graded.answers is not None else None
            settled = settle(stored, notebooks[stored.name], answers, before.get(stored.name))
            record[stored.name] = settled[0]
            kept += settled[1]
    gradebook.db.commit()
    _forget(gradebook, submission)
    if root is not None:
        write_record(root, verdict.assignment, verdict.student, record)
    return Saved(kept)


def _save_notebook(stored: SubmittedNotebook, verdict: NotebookVerdict, notebook: NotebookNode | None) -> None:
    found = {cell.cell: cell for cell in verdict.cells}
    for grade in stored.grades:
        if grade.name in found:
            grade.auto_score = found[grade.name].points
    untouched = _untouched(notebook) if notebook is not None else set()
    untouched -= {cell.cell for cell in verdict.cells if cell.points is None}
    for comment in stored.comments:
        comment.auto_comment = "No response." if comment.name in untouched else None


def give_points(db_url: str, assignment: str, student: str, key: Key, points: float) -> None:
    """Enter points as a person does who grades by hand."""
    with Gradebook(db_url) as gradebook:
        notebook, cell = key
        grade = gradebook.find_grade(cell, notebook, assignment, spelt(gradebook, student))
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def not_in_gradebook(
    gradebook: Gradebook, assignment: str, verdicts: Mapping[str, SubmissionVerdict], root: Path
) -> list[str]:
    """The students (by ``verdicts``, which are by student) whose points the gradebook does not hold, or about another
    answer than the last one: it may be a new gradebook, or an old one."""
    asked = rows_of(assignment, api.Grade, api.Grade.auto_score, api.Grade.id)
    held: dict[str, dict[tuple[str, str], float | None]] = {}
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for student, notebook, cell, points, row in gradebook.db.execute(of_students(asked, verdicts)):
        held.setdefault(one_form(student), {})[notebook, cell] = points
        rows.setdefault(one_form(student), []).append((notebook, cell, row))
    lacking = []
    for student, verdict in verdicts.items():
        record = read_record(root, assignment, student)
        outdated = (record[name].is_outdated(row, cell) for name, cell, row in rows.get(student, ()) if name in record)
        lacking += [student] if not _holds(held.get(student), verdict) or any(outdated) else []
    return lacking


def _holds(held: Mapping[tuple[str, str], float | None] | None, verdict: SubmissionVerdict) -> bool:
    """A cell that the gradebook does not know at all is no reason: writing again would not help."""
    if held is None:
        return False
    decided = {
        (notebook.notebook, cell.cell): cell.points
        for notebook in verdict.notebooks
        for cell in notebook.cells
        if cell.points is not None
    }
    return all(held[key] == points for key, points in decided.items() if key in held)


def _untouched(notebook: NotebookNode) -> set[str]:
    """The answer cells whose text is still the released stub."""
    return {
        cells.nbgrader(cell)["grade_id"]
        for cell in notebook.cells
        if cells.is_solution(cell) and cells.nbgrader(cell).get("checksum") == checksum_of(cell)
    }


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

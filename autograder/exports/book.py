"""What nbgrader's gradebook says about one assignment: students, points, comments, penalties. Reads, never writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nbgrader import api
from sqlalchemy import select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from autograder.errors import GradingError

#: (notebook, grade id) of a graded cell.
Key = tuple[str, str]


@dataclass(frozen=True)
class Student:
    """As nbgrader knows them; every text may be empty but ``id``."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    lms_user_id: str = ""


@dataclass(frozen=True)
class Grade:
    """``points``: the mark by hand, else the judge's, extra credit included; None where there is neither."""

    points: float | None
    max_points: float
    by_hand: bool = False


@dataclass
class Book:
    """``grades``, ``comments`` and ``penalties`` are by student; a student in ``grades`` has a submission."""

    students: dict[str, Student] = field(default_factory=dict)
    grades: dict[str, dict[Key, Grade]] = field(default_factory=dict)
    comments: dict[str, dict[Key, str]] = field(default_factory=dict)
    penalties: dict[str, float] = field(default_factory=dict)


def open_book(db_url: str) -> api.Gradebook | None:
    """None where there is no gradebook yet: opening would make one. Raises GradingError where it cannot be opened."""
    try:
        database = make_url(db_url).database
        if db_url.startswith("sqlite") and not (database and Path(database).is_file()):
            return None
        return api.Gradebook(db_url)
    except SQLAlchemyError as error:
        raise GradingError(f"the gradebook cannot be opened: {getattr(error, 'orig', None) or error}") from error


def read_book(gradebook: api.Gradebook | None, assignment: str) -> Book:
    """Empty where there is no gradebook. An unknown assignment has students and no grades."""
    book = Book()
    if gradebook is None:
        return book
    read = gradebook.db.execute
    for student in gradebook.db.query(api.Student):
        names = (student.last_name, student.first_name, student.email, student.lms_user_id)
        book.students[student.id] = Student(student.id, *(name or "" for name in names))
    of = (
        select(
            api.SubmittedNotebook.id,
            api.SubmittedAssignment.student_id,
            api.Notebook.name,
            api.SubmittedNotebook.late_submission_penalty,
        )
        .where(
            api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id,
            api.SubmittedNotebook.notebook_id == api.Notebook.id,
            api.SubmittedAssignment.assignment_id == api.Assignment.id,
            api.Assignment.name == assignment,
        )
        .order_by(api.Notebook.name)
    )
    notebooks = {key: (student, notebook) for key, student, notebook, _ in read(of)}
    for _, student, _, penalty in read(of):
        book.penalties[student] = book.penalties.get(student, 0.0) + (penalty or 0.0)
    ids = of.with_only_columns(api.SubmittedNotebook.id).order_by(None)
    _read_grades(book, gradebook, notebooks, ids)
    comments = select(api.Comment.notebook_id, api.BaseCell.name, api.Comment.manual_comment).where(
        api.Comment.cell_id == api.BaseCell.id, api.Comment.notebook_id.in_(ids)
    )
    for key, cell, comment in read(comments):
        if comment:
            student, notebook = notebooks[key]
            book.comments.setdefault(student, {})[notebook, cell] = comment
    return book


def _read_grades(book: Book, gradebook: api.Gradebook, notebooks: dict[str, Key], ids: object) -> None:
    cells = [
        cell
        for kind in (api.GradeCell, api.TaskCell)
        for cell in gradebook.db.execute(select(kind.id, kind.name, kind.max_score))
    ]
    about = {key: (name, maximum or 0.0) for key, name, maximum in cells}
    grades = select(
        api.Grade.notebook_id,
        api.Grade.cell_id,
        api.Grade.auto_score,
        api.Grade.manual_score,
        api.Grade.extra_credit,
    ).where(api.Grade.notebook_id.in_(ids))
    for key, cell, auto, manual, extra in gradebook.db.execute(grades):
        student, notebook = notebooks[key]
        name, maximum = about[cell]
        points = manual if manual is not None else auto
        # nbgrader's own rule: extra credit counts only where there is a mark for it to be added to
        points = points + (extra or 0.0) if points is not None else None
        book.grades.setdefault(student, {})[notebook, name] = Grade(points, maximum, manual is not None)

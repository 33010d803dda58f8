"""What nbgrader's gradebook says about one assignment: students, grades, comments, penalties. Reads, never writes."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy import Select, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from tornado.log import app_log

from autograder.errors import GradingError, gradebook_said
from autograder.model.plain_text import forms, is_writable, one_form

# nbgrader's api logs a traceback of what it raises as well, and whoever catches it says it in a line
app_log.addFilter(lambda record: record.module != "api")

#: (notebook, grade id) of a graded cell, or of an answer.
Key = tuple[str, str]

#: Begins a comment that was written about an answer which has changed since. Students do not see such a comment.
EARLIER = "[Written about an earlier answer. Students see this comment when you delete this line.]"

#: Students a few at a time: what is read of a part of a class is forgotten before the next part is read. A query names
#: twice as many at most, and an old SQLite takes no more than 999.
PART = 450
_MANY = 2 * PART  # a query names at most so many students; beyond that it reads the class


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
    """One row of nbgrader's table of grades, as it is.

    ``needs_manual_grade``: nobody has decided yet, or a person must look again, whatever numbers stand there.
    ``row``: its id in the gradebook.
    """

    auto_score: float | None
    manual_score: float | None
    extra_credit: float
    max_score: float
    needs_manual_grade: bool
    row: str = ""


@dataclass
class Book:
    """``grades``, ``comments`` and ``penalties`` are by student; a student in ``grades`` has a submission.

    ``max_points``: the graded cells that the assignment has now, as of its last release.
    """

    students: dict[str, Student] = field(default_factory=dict)
    grades: dict[str, dict[Key, Grade]] = field(default_factory=dict)
    comments: dict[str, dict[Key, str]] = field(default_factory=dict)
    penalties: dict[str, float] = field(default_factory=dict)
    max_points: dict[Key, float] = field(default_factory=dict)


#: How long a locked gradebook is waited for, in seconds, before a command stops with a message.
PATIENCE = 60.0


def patient(db_url: str) -> str:
    """The same gradebook; one that somebody else has locked is waited for, by every statement."""
    url = make_url(db_url)
    if url.get_backend_name() != "sqlite" or "timeout" in url.query:
        return db_url  # a database server waits by itself
    return url.update_query_dict({"timeout": str(PATIENCE)}).render_as_string(hide_password=False)


def open_book(db_url: str) -> Gradebook | None:
    """None where there is no gradebook yet: opening would make one. Raises GradingError where it cannot be opened."""
    try:
        database = make_url(db_url).database
        if db_url.startswith("sqlite") and not (database and Path(database).is_file()):
            return None
        return Gradebook(patient(db_url))
    except SQLAlchemyError as error:
        raise GradingError(f"the gradebook cannot be opened: {gradebook_said(error)}") from error


def find_submission(gradebook: Gradebook, assignment: str, student: str) -> api.SubmittedAssignment | None:
    """The student's row with its notebooks; None where the gradebook has no submission of theirs."""
    try:
        return gradebook.find_submission(assignment, spelt(gradebook, student))
    except MissingEntry:
        return None


def spelt(gradebook: Gradebook, student: str) -> str:
    """The id as the gradebook has it, in whatever Unicode form; of two forms that with submissions."""
    if len(forms(student)) == 1:
        return student
    one = api.Student
    found = gradebook.db.execute(select(one.id).where(one.id.in_(forms(student))).order_by(
        ~one.submissions.any(), one.id.desc())).scalars().first()  # fmt: skip
    return found or one_form(student)


def pages_of_formgrader(gradebook: Gradebook, assignment: str, student: str, notebooks: Iterable[str]) -> list[str]:
    """Where the formgrader shows these notebooks of a submission; it names no student there."""
    try:
        rows = [gradebook.find_submission_notebook(name, assignment, spelt(gradebook, student)) for name in notebooks]
    except MissingEntry:
        return []
    return [f"/formgrader/submissions/{row.id}" for row in rows]


def read_students(gradebook: Gradebook | None, those: Collection[str] | None = None) -> dict[str, Student]:
    """Everybody whom the gradebook knows, or ``those`` of them, by id."""
    if gradebook is None:
        return {}
    one = api.Student
    asked = select(one.id, one.last_name, one.first_name, one.email, one.lms_user_id)
    if those is not None and len(those) <= _MANY:
        asked = asked.where(one.id.in_(_writable(those)))
    found: dict[str, Student] = {}
    for id_, *names in gradebook.db.execute(asked):
        known = found.get(one_form(id_), Student(""))  # under another form of the id
        theirs = (name or getattr(known, field.name) for name, field in zip(names, fields(Student)[1:], strict=True))
        found[one_form(id_)] = Student(one_form(id_), *theirs)
    return found if those is None else {id_: found[id_] for id_ in found if id_ in those}


def read_book(
    gradebook: Gradebook | None,
    assignment: str,
    students: Collection[str] | None = None,
    named: Collection[str] | None = None,
) -> Book:
    """Empty where there is no gradebook. An unknown assignment has students and no grades.

    students: whose grades, comments and penalties are read; named: who is in the list of students; None for everybody.
    """
    book = Book(read_students(gradebook, named))
    if gradebook is None:
        return book
    read = gradebook.db.execute
    book.max_points = _max_points(read, assignment)
    of = _submitted_notebooks(assignment, students)
    notebooks = {}
    spelling: dict[str, str] = {}
    for key, id_, notebook, penalty in read(of):
        student = one_form(id_)
        if spelling.setdefault(student, id_) != id_:
            raise GradingError(
                f"the gradebook has two submissions of {student} to {assignment}, as {id_!a} and "
                f"{spelling[student]!a}: remove one of these with 'nbgrader db student remove ID --force'"
            )
        if students is None or student in students:
            notebooks[key] = (student, notebook)
            book.penalties[student] = book.penalties.get(student, 0.0) + (penalty or 0.0)
    ids = of.with_only_columns(api.SubmittedNotebook.id).order_by(None)
    _read_grades(book, read, notebooks, ids)
    comments = select(api.Comment.notebook_id, api.BaseCell.name, api.Comment.manual_comment).where(
        api.Comment.cell_id == api.BaseCell.id, api.Comment.notebook_id.in_(ids)
    )
    for key, cell, comment in read(comments):
        # nbgrader's own "No response." is an automatic comment, and left out: it is nobody's word
        if key in notebooks and comment and comment.strip() and not comment.startswith(EARLIER):
            student, notebook = notebooks[key]
            book.comments.setdefault(student, {})[notebook, cell] = comment.strip()
    return book


def _submitted_notebooks(assignment: str, students: Collection[str] | None) -> Select[Any]:
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
    return of if students is None else of_students(of, students)


def rows_of(assignment: str, table: Any, *columns: Any) -> Select[Any]:
    """A query for the rows of nbgrader's table of grades or of comments, each with its student, notebook and cell."""
    return (
        select(api.SubmittedAssignment.student_id, api.Notebook.name, api.BaseCell.name, *columns)
        .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        .join(api.Notebook, api.Notebook.id == api.SubmittedNotebook.notebook_id)
        .join(table, table.notebook_id == api.SubmittedNotebook.id)
        .join(api.BaseCell, api.BaseCell.id == table.cell_id)
        .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
        .where(api.Assignment.name == assignment)
    )


def of_students(query: Select[Any], students: Collection[str]) -> Select[Any]:
    """A query about submissions, about these students' alone where they are not many; else it stays as it is."""
    if len(students) > _MANY:
        return query
    return query.where(api.SubmittedAssignment.student_id.in_(_writable(students)))


def _writable(students: Iterable[str]) -> list[str]:
    """In every form in which the gradebook may have them; a database takes no other name."""
    return sorted({form for student in students if is_writable(student) for form in forms(student)})


def _max_points(read: Any, assignment: str) -> dict[Key, float]:
    found: dict[Key, float] = {}
    for kind in (api.GradeCell, api.TaskCell):
        rows: Iterable[tuple[str, str, float | None]] = read(
            select(api.Notebook.name, kind.name, kind.max_score).where(
                kind.notebook_id == api.Notebook.id,
                api.Notebook.assignment_id == api.Assignment.id,
                api.Assignment.name == assignment,
            )
        )
        found |= {(notebook, cell): most or 0.0 for notebook, cell, most in rows}
    return found


def _read_grades(book: Book, read: Any, notebooks: dict[str, Key], ids: Select[Any]) -> None:
    grades = select(
        api.Grade.notebook_id,
        api.BaseCell.name,
        api.Grade.auto_score,
        api.Grade.manual_score,
        api.Grade.extra_credit,
        api.Grade.needs_manual_grade,
        api.Grade.id,
    ).where(api.Grade.cell_id == api.BaseCell.id, api.Grade.notebook_id.in_(ids))
    for key, cell, auto, manual, extra, waits, row in read(grades):
        if key in notebooks:
            student, notebook = notebooks[key]
            most = book.max_points.get((notebook, cell), 0.0)
            book.grades.setdefault(student, {})[notebook, cell] = Grade(
                auto, manual, extra or 0.0, most, bool(waits), row
            )


def parts_of(students: Sequence[str]) -> Iterator[Sequence[str]]:
    """All of them, in order, ``PART`` at a time."""
    for start in range(0, len(students), PART):
        yield students[start : start + PART]

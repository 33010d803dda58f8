"""Manual grades and comments in nbgrader's gradebook: read, stored in the form of its formgrader, and taken back.

So are the points of a plain test that holds for other values than the solution's and that a person accepts; reason and
date are kept in ``.autograder/accepted/``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path

from nbgrader import api
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from autograder.errors import GradingError, gradebook_said
from autograder.gradebook.graded_answers import settling
from autograder.gradebook.read import EARLIER, Gradebook, Key, open_book, rows_of
from autograder.gradebook.records import read_by_student, record_path, write_by_student
from autograder.gradebook.results import StudentResult
from autograder.gradebook.write import give_points
from autograder.model.course import Course
from autograder.model.plain_text import one_form

#: Of one student: exercise -> id of the grade's row, automatic points, manual points, whether a person has to look.
GradeRows = dict[Key, tuple[str, float | None, float | None, bool]]
#: (student, notebook, cell) -> id and text of a comment.
CommentRows = dict[tuple[str, str, str], tuple[str, str | None]]


@dataclass(frozen=True)
class MarkState:
    """What the gradebook holds of one answer, as nbgrader has it."""

    score: float | None
    waits: bool
    comment: str | None


@dataclass(frozen=True)
class MarkChange:
    """One answer's mark as it was and as it is to be; ``row``, ``comment_row``: ids in the gradebook."""

    row: str
    comment_row: str
    before: MarkState
    after: MarkState

    @property
    def reverse(self) -> "MarkChange":
        return replace(self, before=self.after, after=self.before)


def read_marks(db_url: str, assignment: str) -> tuple[dict[str, GradeRows], CommentRows]:
    """By student the rows of their grades; all comments. Raises GradingError where there is no gradebook."""
    grades: dict[str, GradeRows] = {}
    with _open(db_url, assignment) as gradebook:
        grade, comment = api.Grade, api.Comment
        columns = (grade.id, grade.auto_score, grade.manual_score, grade.needs_manual_grade)
        rows = gradebook.db.execute(rows_of(assignment, grade, *columns))
        for student, notebook, cell, row, auto, manual, needs in rows:
            grades.setdefault(one_form(student), {})[notebook, cell] = row, auto, manual, bool(needs)
        texts = gradebook.db.execute(rows_of(assignment, comment, comment.id, comment.manual_comment))
        comments = {(one_form(student), notebook, cell): (row, text) for student, notebook, cell, row, text in texts}
    return grades, comments


def _open(db_url: str, assignment: str) -> Gradebook:
    gradebook = open_book(db_url)
    if gradebook is None:
        raise GradingError(f"there is no gradebook: run 'autograder grade {assignment}' first")
    return gradebook


def store_marks(
    course: Course,
    assignment: str,
    changes: Iterable[MarkChange],
    noting: Callable[[list[MarkChange]], AbstractContextManager[None]] | None = None,
) -> list[MarkChange]:
    """Store marks, in one transaction; returns those that were stored.

    The others were not, because the answer or its mark is another one by now. Raises GradingError where nothing was
    stored at all. noting: what surrounds the moment from which on they count.
    """
    with _open(course.db_url, assignment) as gradebook, settling(course.root, assignment):
        try:
            stored = [change for change in changes if _stored(gradebook, change)]
            with noting(stored) if noting else nullcontext():
                gradebook.db.commit()
        except SQLAlchemyError as error:
            gradebook.db.rollback()
            raise GradingError(f"nothing was stored: {gradebook_said(error)}") from error
    return stored


def _stored(gradebook: Gradebook, change: MarkChange) -> bool:
    """Compare and set: a row has another id when its answer changes, and another person may have marked it."""
    before, after = change.before, change.after
    grade = update(api.Grade).where(
        api.Grade.id == change.row,
        api.Grade.manual_score.is_not_distinct_from(before.score),
        api.Grade.needs_manual_grade == before.waits,
    )
    comment = api.Comment.id == change.comment_row, api.Comment.manual_comment.is_not_distinct_from(before.comment)
    if after.comment != before.comment:
        grade = grade.where(select(api.Comment.id).where(*comment).exists())
    run = partial(gradebook.db.execute, execution_options={"synchronize_session": False})
    if run(grade.values(manual_score=after.score, needs_manual_grade=after.waits)).rowcount != 1:
        return False
    if after.comment != before.comment:
        said = run(update(api.Comment).where(*comment).values(manual_comment=after.comment))
        if said.rowcount != 1:  # somebody else wrote in this moment
            raise GradingError("nothing was stored: somebody else has stored a comment at the same time; try again")
    return True


def undo_marks(course: Course, assignment: str, stored: Sequence[MarkChange]) -> list[MarkChange]:
    """Put back what :func:`store_marks` changed, where nobody has changed it since; returns what was put back."""
    return store_marks(course, assignment, [change.reverse for change in stored])


def given_comments(db_url: str, assignment: str, notebook: str) -> dict[str, list[str]]:
    """Cell to the paragraphs of all comments about its answers, the most frequent first; {} without a gradebook.

    Raises GradingError where the gradebook cannot be opened.
    """
    gradebook = open_book(db_url)
    if gradebook is None:
        return {}
    given = (
        select(api.BaseCell.name, api.Comment.manual_comment)
        .join(api.BaseCell, api.Comment.cell_id == api.BaseCell.id)
        .join(api.Notebook, api.BaseCell.notebook_id == api.Notebook.id)
        .join(api.Assignment, api.Notebook.assignment_id == api.Assignment.id)
        .where(api.Assignment.name == assignment, api.Notebook.name == notebook)
        .where(api.Comment.manual_comment.is_not(None))
    )
    counts: dict[str, Counter[str]] = {}
    with gradebook:
        for cell, comment in gradebook.db.execute(given):
            if not comment.startswith(EARLIER):
                counts.setdefault(cell, Counter()).update(paragraphs(comment))
    return {
        cell: [text for text, _ in sorted(found.items(), key=lambda one: (-one[1], one[0]))]
        for cell, found in counts.items()
    }


def paragraphs(comment: str) -> list[str]:
    """The texts between blank lines."""
    return [text.strip() for text in re.split(r"\n[ \t]*\n", comment.replace("\r\n", "\n")) if text.strip()]


@dataclass(frozen=True)
class Offered:
    """One test of one student, which waits. points: those that one word gives; why: in words for the instructor."""

    student: str
    notebook: str
    cell: str
    points: float
    why: str

    @property
    def reason(self) -> str:
        """What is the same for all who wait for the same."""
        why = f": {self.why}" if self.why else ""
        return f"{self.notebook}/{self.cell}, {self.points:g} points wait{'s' * (self.points == 1)} for your word{why}"

    def __str__(self) -> str:
        return f"{self.student}, {self.reason}"


def offered(rows: Iterable[StudentResult]) -> list[Offered]:
    """What waits for a person to accept it, or to give fewer points."""
    return [
        Offered(row.student.id, *key, one.offered, one.refused)
        for row in rows
        for key, one in row.exercises.items()
        if one.offered is not None and one.points is None
    ]


def in_groups(waiting: Iterable[Offered]) -> list[str]:
    """A line for all who wait for the same, with their names."""
    found: dict[str, list[str]] = {}
    for one in waiting:
        found.setdefault(one.reason, []).append(one.student)
    return [f"{', '.join(students)}: {reason}" for reason, students in found.items()]


def accept(root: Path, db_url: str, assignment: str, one: Offered, reason: str) -> Path:
    """Give the points; the file in which the reason is kept. Raises GradingError."""
    path = record_path(root, "accepted", assignment)
    kept = read_by_student(path, dict, "mend it, or delete it")
    entry = {"points": one.points, "reason": reason, "date": date.today().isoformat()}
    kept.setdefault(one.student, {})[f"{one.notebook}/{one.cell}"] = entry
    write_by_student(path, kept)
    give_points(db_url, assignment, one.student, (one.notebook, one.cell), one.points)
    return path


def reason_of(root: Path, assignment: str, student: str, key: Key) -> str:
    """Why it was accepted, with the date; empty where it was not."""
    path = record_path(root, "accepted", assignment)
    try:
        entry = read_by_student(path, dict, "")[student]["/".join(key)]
        return f"accepted: {entry['reason']} ({entry['date']})"
    except (GradingError, KeyError, TypeError):
        return ""

"""Manual grades and comments in nbgrader's gradebook: read, stored in the form of its formgrader, and taken back."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from nbgrader import api
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from autograder.errors import GradingError, gradebook_said
from autograder.gradebook.graded_answers import settling
from autograder.gradebook.read import EARLIER, Gradebook, Key, open_book, rows_of
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

"""Storing marks in nbgrader's gradebook, in the form in which its formgrader does; taking them back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from nbgrader import api
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from autograder.errors import GradingError, gradebook_said
from autograder.gradebook.graded_answers import settling
from autograder.gradebook.read import EARLIER, open_book
from autograder.gradebook.remarks import paragraphs
from autograder.marking.answers import ClassAnswer, MarkState
from autograder.marking.log import MarkChange
from autograder.model.course import Course


def change_of(answer: ClassAnswer, points: float, comment: str, alone: bool) -> MarkChange:
    """The mark that a person gives.

    alone: the person has seen the comment that is there, and ``comment`` takes its place. Else it is added to it. One
    about an earlier answer, which students do not see, stays as long as there is no other.
    """
    before = answer.state
    there = before.comment or ""
    kept = "" if there.startswith(EARLIER) else there
    if not alone and kept:
        comment = "\n\n".join(dict.fromkeys([*paragraphs(kept), *paragraphs(comment)]))
    said = comment if comment or kept else before.comment
    return MarkChange(answer.row, answer.comment_row, before, MarkState(points, False, said))


def store(
    course: Course,
    assignment: str,
    changes: Iterable[MarkChange],
    noting: Callable[[list[MarkChange]], AbstractContextManager[None]] | None = None,
) -> list[MarkChange]:
    """Store marks, in one transaction; returns those that were stored.

    The others were not, because the answer or its mark is another one by now. Raises GradingError where nothing was
    stored at all. noting: what surrounds the moment from which on they count.
    """
    gradebook = open_book(course.db_url)
    if gradebook is None:
        raise GradingError(f"there is no gradebook: run 'autograder grade {assignment}' first")
    with gradebook, settling(course.root, assignment):
        try:
            stored = [change for change in changes if _stored(gradebook, change)]
            with noting(stored) if noting else nullcontext():
                gradebook.db.commit()
        except SQLAlchemyError as error:
            gradebook.db.rollback()
            raise GradingError(f"nothing was stored: {gradebook_said(error)}") from error
    return stored


def _stored(gradebook: api.Gradebook, change: MarkChange) -> bool:
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


def undo(course: Course, assignment: str, stored: Sequence[MarkChange]) -> list[MarkChange]:
    """Put back what :func:`store` changed, where nobody has changed it since; returns what was put back."""
    return store(course, assignment, [change.reverse for change in stored])

"""What people wrote into the gradebook: comments, points given by hand, late penalties. Reads, never writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nbgrader import api
from sqlalchemy import select
from sqlalchemy.engine import make_url


@dataclass
class Marks:
    """About one notebook of one student. ``manual`` holds the points that count, extra credit included."""

    comments: dict[str, str] = field(default_factory=dict)
    manual: dict[str, float] = field(default_factory=dict)
    late_penalty: float = 0.0


def read_marks(db_url: str, assignment: str, student: str | None = None) -> dict[tuple[str, str], Marks]:
    """(student, notebook) -> marks, for one assignment. Empty where there is no gradebook yet."""
    database = make_url(db_url).database
    if db_url.startswith("sqlite") and not (database and Path(database).is_file()):
        return {}  # opening it would make an empty one
    of = select(api.SubmittedNotebook.id, api.SubmittedAssignment.student_id, api.Notebook.name).where(
        api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id,
        api.SubmittedNotebook.notebook_id == api.Notebook.id,
        api.SubmittedAssignment.assignment_id == api.Assignment.id,
        api.Assignment.name == assignment,
    )
    if student is not None:
        of = of.where(api.SubmittedAssignment.student_id == student)
    ids = of.with_only_columns(api.SubmittedNotebook.id)
    grades = select(
        api.Grade.notebook_id, api.BaseCell.name, api.Grade.auto_score, api.Grade.manual_score, api.Grade.extra_credit
    ).where(api.Grade.cell_id == api.BaseCell.id, api.Grade.notebook_id.in_(ids))
    # nbgrader's own "No response." is left out too: it is nobody's comment
    comments = select(api.Comment.notebook_id, api.BaseCell.name, api.Comment.manual_comment).where(
        api.Comment.cell_id == api.BaseCell.id, api.Comment.notebook_id.in_(ids)
    )
    penalties = select(api.SubmittedNotebook.id, api.SubmittedNotebook.late_submission_penalty).where(
        api.SubmittedNotebook.id.in_(ids)
    )
    with api.Gradebook(db_url) as gradebook:
        read = gradebook.db.execute
        names = {key: (who, notebook) for key, who, notebook in read(of)}
        marks = {key: Marks() for key in names}
        for key, cell, auto, manual, extra in read(grades):
            # points that are the judge's alone are left out: the verdict says more about them
            if manual is not None or extra:
                marks[key].manual[cell] = (manual if manual is not None else auto or 0.0) + (extra or 0.0)
        for key, cell, comment in read(comments):
            if comment:
                marks[key].comments[cell] = comment
        for key, penalty in read(penalties):
            marks[key].late_penalty = penalty or 0.0
    return {names[key]: mark for key, mark in marks.items()}

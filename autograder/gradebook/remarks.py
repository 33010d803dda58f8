"""The comments that were given for the answers of one notebook, for whom it may concern again."""

from __future__ import annotations

import re
from collections import Counter

from nbgrader import api
from sqlalchemy import select

from autograder.gradebook.read import EARLIER, open_book


def remarks(db_url: str, assignment: str, notebook: str) -> dict[str, list[str]]:
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

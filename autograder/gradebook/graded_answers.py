"""Which text a manual grade was given for, so that it never counts for another.

nbgrader keeps a manual grade when a submission is graded again, and has no place for the text that it is about. That is
kept beside the gradebook, in ``.autograder/answers/<assignment>/<student>.json``: for every answer a digest of what was
graded last, and for every manual grade the digest of the answer that it was given for. An answer that is unchanged
stays graded; one that has changed waits for a person (``needs_manual_grade``), and so does one nobody knows about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import SubmittedNotebook

from autograder.files.atomic import write_file
from autograder.gradebook.answer_digests import Digests
from autograder.gradebook.read import EARLIER
from autograder.model.verdict import NotebookVerdict


@dataclass(frozen=True)
class NotebookRecord:
    """``answers``: what was graded last; ``by_hand``: what the manual grades were given for."""

    answers: Digests = field(default_factory=dict)
    by_hand: Digests = field(default_factory=dict)


def settle(
    stored: SubmittedNotebook, verdict: NotebookVerdict, answers: Digests | None, before: NotebookRecord | None
) -> tuple[NotebookRecord, int]:
    """Say in the gradebook which grades wait for a person, and which comments are about an earlier answer.

    answers: what is graded now; None where nobody could read it.
    before: what is on record; None where nothing is.
    Returns what is to be recorded, and how many manual grades still count.
    """
    now = answers if answers is not None else before.answers if before is not None else {}
    known = answers is not None or before is not None
    by_hand: dict[str, str] = {}
    status = {cell.cell: cell.status for cell in verdict.cells}
    kept = 0
    for grade in stored.grades:
        if grade.manual_score is None:
            grade.needs_manual_grade = grade.auto_score is None
            continue
        about = None
        if before is not None:  # who decided since then decided about what was graded last
            decided = not grade.needs_manual_grade
            about = before.answers.get(grade.name, "") if decided else before.by_hand.get(grade.name)
        if about is not None:
            by_hand[grade.name] = about
        unchanged = known and about is not None and about == now.get(grade.name, "")
        grade.needs_manual_grade = not unchanged or status.get(grade.name) == "infrastructure"
        kept += not grade.needs_manual_grade
    for comment in stored.comments:
        text = comment.manual_comment
        changed = before is not None and before.answers.get(comment.name, "") != now.get(comment.name, "")
        if text and text.strip() and changed and not text.startswith(EARLIER):
            comment.manual_comment = f"{EARLIER}\n{text}"
    return NotebookRecord(dict(now), by_hand), kept


def read_record(root: Path, assignment: str, student: str) -> dict[str, NotebookRecord]:
    """Notebook to record; empty where nothing is on record, or nothing that can be read."""
    try:
        data: Any = json.loads(_path(root, assignment, student).read_text(encoding="utf-8"))
        return {name: NotebookRecord(dict(one["answers"]), dict(one["by_hand"])) for name, one in data.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_record(root: Path, assignment: str, student: str, record: Mapping[str, NotebookRecord]) -> None:
    """After the gradebook's commit, never before: a record that is behind makes a person look once more, no less."""
    text = json.dumps({name: asdict(one) for name, one in sorted(record.items())}, indent=1, ensure_ascii=False)
    write_file(_path(root, assignment, student), f"{text}\n".encode())


def _path(root: Path, assignment: str, student: str) -> Path:
    return root / ".autograder" / "answers" / assignment / f"{student}.json"

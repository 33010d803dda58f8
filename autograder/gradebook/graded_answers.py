"""Which text a manual grade was given for, so that it never counts for another.

nbgrader keeps a manual grade when a submission is graded again, and has no place for the text that it is about. That is
kept beside the gradebook, in ``.autograder/answers/<assignment>/<student>.json``: for every answer a digest of what was
graded last, and for every manual grade the digest of the answer that it was given for. An answer that is unchanged
stays graded; one that has changed waits for a person (``needs_manual_grade``), and so does one nobody knows about.

The gradebook may be a backup that was put back, with a mark from before the answer changed. So a grade gets another id
in the gradebook with every new answer, and it is kept which answer an id is about.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock
from nbgrader.api import SubmittedNotebook

from autograder.files.atomic import write_file, writing
from autograder.gradebook.read import EARLIER, Book
from autograder.model.plain_text import one_form
from autograder.model.verdict import Digests, NotebookVerdict


@dataclass(frozen=True)
class NotebookRecord:
    """``answers``: what was graded last; ``by_hand``: what the manual grades were given for.

    ``rows``: id of a grade in the gradebook, now or earlier, to the answer that it is about; empty in a record of an
    earlier version. ``scores``: of the manual grades in ``by_hand``.
    """

    answers: Digests = field(default_factory=dict)
    by_hand: Digests = field(default_factory=dict)
    rows: Digests = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)

    def stands_for(self, row: str, cell: str) -> str | None:
        """The answer that a row of the gradebook is about; None where nobody knows."""
        return self.rows.get(row) if self.rows else self.answers.get(cell, "")

    def is_outdated(self, row: str, cell: str) -> bool:
        """Whether the row is about another answer than the one that was graded last."""
        return self.stands_for(row, cell) != self.answers.get(cell, "")


@contextmanager
def settling(root: Path, assignment: str) -> Iterator[None]:
    """Nobody else marks an answer of the assignment, or grades one, between reading its row and writing it."""
    path = root / ".autograder" / "answers" / f"{assignment}.lock"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, mode=0o660)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


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
    scores: dict[str, float] = {}
    rows: dict[str, str] = dict(before.rows) if before is not None else {}
    outdated: set[str] = set()
    status = {cell.cell: cell.status for cell in verdict.cells}
    kept = 0
    for grade in stored.grades:
        row = grade.id
        if before is not None and before.is_outdated(row, grade.name):
            outdated.add(grade.name)
        if before is not None and before.stands_for(row, grade.name) != now.get(grade.name, ""):
            grade.id = uuid4().hex
        if known:
            rows[grade.id] = now.get(grade.name, "")
        if grade.manual_score is None:
            grade.needs_manual_grade = grade.auto_score is None
            continue
        about = None
        if before is not None and not grade.needs_manual_grade:  # who decided did so about what the row is about
            about = before.stands_for(row, grade.name)
        elif before is not None and before.scores.get(grade.name, grade.manual_score) == grade.manual_score:
            about = before.by_hand.get(grade.name)
        if about is not None:
            by_hand[grade.name], scores[grade.name] = about, grade.manual_score
        unchanged = known and about is not None and about == now.get(grade.name, "")
        grade.needs_manual_grade = not unchanged or status.get(grade.name) == "infrastructure"
        kept += not grade.needs_manual_grade
    for comment in stored.comments:
        text = comment.manual_comment
        changed = before is not None and before.answers.get(comment.name, "") != now.get(comment.name, "")
        changed = changed or comment.name in outdated
        if text and text.strip() and changed and not text.startswith(EARLIER):
            comment.manual_comment = f"{EARLIER}\n{text}"
    return NotebookRecord(dict(now), by_hand, rows, scores), kept


def waiting_again(root: Path, assignment: str, book: Book) -> Book:
    """The book with every mark as waiting for a person that is about another answer than the one that was graded last:
    it came back with a backup of the gradebook."""
    for student, grades in book.grades.items():
        decided = [key for key, one in grades.items() if one.manual_score is not None and not one.needs_manual_grade]
        record = read_record(root, assignment, student) if decided else {}
        for notebook, cell in decided:
            if notebook in record and record[notebook].is_outdated(grades[notebook, cell].row, cell):
                grades[notebook, cell] = replace(grades[notebook, cell], needs_manual_grade=True)
    return book


def read_record(root: Path, assignment: str, student: str) -> dict[str, NotebookRecord]:
    """Notebook to record; empty where nothing is on record, or nothing that can be read."""
    try:
        data: Any = json.loads(_path(root, assignment, student).read_text(encoding="utf-8"))
        kinds = "answers", "by_hand", "rows", "scores"
        later: dict[str, Any] = {"rows": {}, "scores": {}}  # not in the records of an earlier version
        return {name: NotebookRecord(*(dict((later | one)[kind]) for kind in kinds)) for name, one in data.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_record(root: Path, assignment: str, student: str, record: Mapping[str, NotebookRecord]) -> None:
    """After the gradebook's commit, never before: a record that is behind makes a person look once more, no less."""
    text = json.dumps({name: asdict(one) for name, one in sorted(record.items())}, indent=1, ensure_ascii=False)
    write_file(_path(root, assignment, student), f"{text}\n".encode())


def _path(root: Path, assignment: str, student: str) -> Path:
    return root / ".autograder" / "answers" / assignment / f"{one_form(student)}.json"

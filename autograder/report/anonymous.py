"""The same class under pseudonyms: nobody who reads the report learns who wrote what.

Names that students wrote into their own code are theirs, and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.gradebook.pseudonyms import read_salt, with_salt
from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult
from autograder.model.verdict import SubmissionVerdict
from autograder.report.code import Answer
from autograder.report.results import Results


def under_pseudonyms(root: Path, results: Results, answers: Sequence[Answer]) -> tuple[Results, list[Answer]]:
    """Both with pseudonyms in the place of ids, in the pseudonyms' order; names and addresses are gone."""
    salt = read_salt(root)

    def row(one: StudentResult) -> StudentResult:
        name, by = with_salt(salt, one.student.id), one.submitted_by and with_salt(salt, one.submitted_by)
        return replace(one, student=Student(name), submitted_by=by, verdict=_verdict(one.verdict, name))

    table = results.table
    rows = tuple(sorted(map(row, table.rows), key=lambda one: one.student.id))
    unreadable = {with_salt(salt, student): why for student, why in table.unreadable.items()}
    hidden = Results(replace(table, rows=rows, unreadable=unreadable))
    return hidden, [replace(one, student=with_salt(salt, one.student)) for one in answers]


def _verdict(verdict: SubmissionVerdict | None, name: str) -> SubmissionVerdict | None:
    if verdict is None:
        return None
    return replace(verdict, student=name, notebooks=tuple(replace(one, student=name) for one in verdict.notebooks))

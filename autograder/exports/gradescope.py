"""The table that Gradescope gives for an assignment (Review Grades > Download Grades > CSV), for programs made for it.

Columns as in files that it wrote: ``First Name, Last Name, SID, Email, Sections, Total Score, Max Points, Status,
Submission ID, Submission Time, Lateness (H:M:S), View Count, Submission Count``, then ``1: Title (5.0 pts)`` for each
question; the status is Graded, Ungraded or Missing. Gradescope imports no such table: there an autograder writes
``results.json``, as ``autograder ci`` does (gradescope-autograders.readthedocs.io/en/latest/specs).

The deduction for being late is a question of its own, so that the questions add up to the total: who reads the total
must not take points off for the lateness once more.
"""

from __future__ import annotations

from autograder.exports.sheet import Cell, ExportFile, Sheet, to_csv
from autograder.gradebook.results import ResultsTable, StudentResult

COLUMNS = (
    "First Name", "Last Name", "SID", "Email", "Sections", "Total Score", "Max Points", "Status", "Submission ID",
    "Submission Time", "Lateness (H:M:S)", "View Count", "Submission Count",
)  # fmt: skip
STATUS = {"graded": "Graded", "nothing handed in": "Missing"}
DEDUCTION = "Late deduction (0.0 pts)"


def make(table: ResultsTable, template: Sheet | None = None) -> ExportFile:
    """One line per student, Missing where nothing was handed in."""
    questions = [
        f"{number}: {one.notebook}/{one.cell} ({float(one.max_points)} pts)"
        for number, one in enumerate(table.exercises, start=1)
    ]
    deducts = table.deadline or any(row.deduction for row in table.rows)
    lines: list[list[Cell]] = [[*COLUMNS, *questions, *([DEDUCTION] if deducts else [])]]
    for row in table.rows:
        marks = [row.exercises[one.key].points if one.key in row.exercises else None for one in table.exercises]
        off = [None if row.deduction is None else 0.0 - row.deduction] if deducts else []
        lines.append([*_about(table, row), *marks, *off])
    return ExportFile(to_csv(lines))


def _about(table: ResultsTable, row: StudentResult) -> list[Cell]:
    student = row.student
    return [
        student.first_name,
        student.last_name,
        student.id,
        student.email,
        None,
        row.score,
        table.max_points if row.exercises else None,
        STATUS.get(row.state, "Ungraded"),
        None,
        None if row.submitted_at is None else row.submitted_at.strftime("%Y-%m-%d %H:%M:%S %z"),
        _lateness(row),
        None,
        1 if row.exercises else 0,
    ]


def _lateness(row: StudentResult) -> str | None:
    """Past the deadline with its extension; None where no deadline or no time is known."""
    if row.lateness is None or row.submitted_at is None:
        return None
    seconds = round(row.lateness.after.total_seconds())
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"

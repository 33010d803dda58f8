"""For people and their own programs: a CSV file that a spreadsheet opens, and JSON."""

import json
from typing import Any

from autograder.exports.sheet import Cell, ExportFile, Sheet, number, to_csv
from autograder.gradebook.read import Student
from autograder.gradebook.results import ResultsTable, StudentResult

#: Bumped when a field of the JSON changes its meaning or goes away.
SCHEMA_VERSION = 1
COLUMNS = (
    "student", "last_name", "first_name", "email", "state", "submitted_at", "days_late", "free_days_used", "late",
    "points", "deduction", "score", "max_points", "waiting",
)  # fmt: skip


def make_csv(table: ResultsTable, template: Sheet | None = None) -> ExportFile:
    """One line per student, one column per exercise; opens in a spreadsheet, so it begins with a byte order mark."""
    exercises = [f"{one.notebook}/{one.cell} ({number(one.max_points)})" for one in table.exercises]
    lines: list[list[Cell]] = [[*COLUMNS, *exercises, "comments"]]
    for row in table.rows:
        marks = [row.exercises[one.key].points if one.key in row.exercises else None for one in table.exercises]
        comments = "\n".join(f"{cell}: {text}" for (_, cell), text in row.comments.items())
        waiting = ", ".join(f"{notebook}/{cell}" for notebook, cell in row.waiting)
        about = {**_about(row), "max_points": table.max_points, "waiting": waiting}
        lines.append([*(about[name] for name in COLUMNS), *marks, comments])
    return ExportFile(to_csv(lines, bom=True))


def _about(row: StudentResult) -> dict[str, Any]:
    late = row.lateness
    return {
        **person(row.student),
        "state": row.state,
        "submitted_at": None if row.submitted_at is None else row.submitted_at.isoformat(),
        "days_late": late.days if late else None,
        "free_days_used": late.free_days_used if late else None,
        "late": late.reason if late else None,
        "points": row.points,
        "deduction": row.deduction,
        "score": row.score,
    }


def make_json(table: ResultsTable, template: Sheet | None = None) -> ExportFile:
    """Everything, with texts as they are: whoever puts them into a spreadsheet must make them harmless there."""
    whole = {
        "schema": SCHEMA_VERSION,
        "assignment": table.assignment,
        "max_points": table.max_points,
        "students": [_student(table, row) for row in table.rows],
    }
    return as_json(whole)


def as_json(whole: dict[str, Any]) -> ExportFile:
    return ExportFile((json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace"))


def person(student: Student) -> dict[str, Any]:
    """Who a row is about, under the names that all our JSON has for it."""
    return {
        "student": student.id,
        "last_name": student.last_name,
        "first_name": student.first_name,
        "email": student.email,
        "lms_user_id": student.lms_user_id,
    }


def _student(table: ResultsTable, row: StudentResult) -> dict[str, Any]:
    return {
        **_about(row),
        "exercises": [
            {
                "notebook": one.notebook,
                "exercise": one.cell,
                "status": row.exercises[one.key].status,
                "points": row.exercises[one.key].points,
                "max_points": one.max_points,
            }
            for one in table.exercises
            if one.key in row.exercises
        ],
        "comments": [
            {"notebook": notebook, "cell": cell, "comment": text} for (notebook, cell), text in row.comments.items()
        ],
    }

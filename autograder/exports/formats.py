"""A class's grades in one of the formats, where the file lies, and what an instructor must know of it."""

import json
from pathlib import Path
from typing import Any

from autograder.errors import GradingError
from autograder.exports import FOR_ANYBODY, WITH_TEMPLATE, Format, canvas, moodle
from autograder.exports.sheet import Cell, ExportFile, number, read_sheet, to_csv
from autograder.gradebook.read import Student
from autograder.gradebook.results import ResultsTable, StudentResult, counted

#: Bumped when a field of the JSON changes its meaning or goes away.
SCHEMA_VERSION = 1
COLUMNS = (
    "student", "last_name", "first_name", "email", "state", "submitted_at", "days_late", "free_days_used", "late",
    "points", "deduction", "score", "max_points", "waiting",
)  # fmt: skip


def make_csv(table: ResultsTable) -> ExportFile:
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


def make_json(table: ResultsTable) -> ExportFile:
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


def make(table: ResultsTable, to: Format, columns: Path | None = None) -> ExportFile:
    """The export of one class. Raises GradingError where ``columns`` is no table that this format can fill in."""
    if columns is not None and to not in WITH_TEMPLATE:
        raise GradingError(f"--columns goes with --to {' or '.join(WITH_TEMPLATE)}, not with --to {to}")
    sheet = read_sheet(columns) if columns is not None else None
    match to:
        case "canvas":
            return canvas.make(table, sheet)
        case "moodle":
            return moodle.make(table, sheet)
        case "csv":
            return make_csv(table)
        case "json":
            return make_json(table)


def default_path(root: Path, name: str, to: Format) -> Path:
    """name: of the assignment, or of the course's total."""
    return root / "exports" / (f"{name}.{to}" if to in FOR_ANYBODY else f"{name}-{to}.csv")


def remarks(table: ResultsTable) -> list[str]:
    """On empty cells and deductions, a line each."""
    by_state: dict[str, list[str]] = {}
    for row in table.rows:
        by_state.setdefault(row.state, []).append(row.student.id)
    exercises = sum(len(row.waiting) for row in table.rows if row.state == "waiting")
    said = {
        "waiting": f"{exercises} to be read by a person; empty until then, and so are the sums",
        "infrastructure": "not graded yet, or the grader failed: start 'autograder grade' again; empty until then",
        "refused": "handed in after the hard deadline and refused: no score",
        "nothing handed in": "handed in nothing: no score",
    }
    lines = [f"{counted(by_state[state])}: {text}" for state, text in said.items() if state in by_state]
    timeless = [row.student.id for row in table.rows if row.exercises and row.submitted_at is None]
    if table.deadline and timeless:
        lines.append(f"{counted(timeless)}: no time was recorded, counted as on time")
    if not table.deadline and any(row.deduction for row in table.rows):
        lines.append("the gradebook's own late penalties are taken off: late_policy.toml has no deadline here")
    return [*lines, *(f"{one.exercise}: {one.text}" for one in table.waivers)]

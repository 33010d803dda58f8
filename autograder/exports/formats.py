"""A class's grades in one of the formats, where the file lies, and what an instructor must know of it.

Canvas reads these columns (``lib/gradebook_importer.rb`` and ``gradebook_exporter.rb`` of instructure/canvas-lms):
``Student``, ``ID``, perhaps ``SIS User ID`` and ``SIS Login ID``, ``Section``, then ``Title (id)`` for each assignment;
the second line is ``    Points Possible``. Without its id in brackets an assignment is made anew. A student is found by
``ID``, then ``SIS User ID``, ``SIS Login ID`` and at last by name; scores are compared with two decimals. An empty cell
clears the score that Canvas holds; a student without a line is left alone, and so is every column that is not there.
"""

import json
import re
from pathlib import Path
from typing import Any

from autograder.errors import GradingError
from autograder.exports import FOR_ANYBODY, WITH_TEMPLATE, Format, moodle
from autograder.exports.sheet import (
    Cell,
    ExportFile,
    Sheet,
    emails,
    ids,
    left_out,
    lms_ids,
    local_part,
    match,
    names,
    number,
    number_in,
    read_sheet,
    says,
    spoilt_keys,
    squeezed,
    to_csv,
)
from autograder.gradebook.course_total import CourseTotal, StudentTotal
from autograder.gradebook.read import Student
from autograder.gradebook.results import ExerciseResult, GradedExercise, ResultsTable, StudentResult, counted, named

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "    Points Possible"
_ASSIGNMENT = re.compile(r"(.*)\s\((\d+)\)", re.DOTALL)
#: Computed by Canvas, with the names of groups and terms around them.
_COMPUTED = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")


def make_canvas(table: ResultsTable, template: Sheet | None) -> ExportFile:
    """One column: the assignment's score. template: Canvas's own export of this course's gradebook."""
    rows = [row for row in table.rows if row.exercises]
    return _plain(table, rows) if template is None else _filled(table, rows, template)


def _plain(table: ResultsTable, rows: list[StudentResult]) -> ExportFile:
    lines: list[list[Cell]] = [[*CANVAS_COLUMNS, table.assignment], [POINTS, None, None, None, None, table.max_points]]
    for row in rows:
        student = row.student
        name = f"{student.last_name}, {student.first_name}".strip(", ") or student.id
        lines.append([name, student.lms_user_id, None, student.id, None, row.score])
    note = f"Canvas will make a new assignment {table.assignment!r}: give its own export with --columns to fill one"
    return ExportFile(to_csv(lines, digits=2), (note, *spoilt_keys(lines, CANVAS_COLUMNS[1:4])))


def _filled(table: ResultsTable, rows: list[StudentResult], template: Sheet) -> ExportFile:
    section = template.column("Section")
    name, number = template.column("Student"), template.column("ID")
    if section is None or name != 0 or number != 1:
        raise GradingError(
            f"{template.name}: expected Canvas's gradebook export with the columns Student, ID, ..., Section; "
            f"found {', '.join(template.header[:5])}"
        )
    column = _assignment_column(table, template)
    _same_points(table, template, column)
    found = match(
        rows,
        template,
        [
            (lms_ids, says(template, "ID")),
            (ids, says(template, "SIS Login ID")),
            (ids, says(template, "SIS User ID")),
            (ids, says(template, "ID")),
            (emails, says(template, "SIS Login ID")),
            (ids, says(template, "SIS Login ID", change=local_part)),
            (names, says(template, "Student", change=squeezed)),
        ],
    )
    own = slice(0, section + 1)
    lines: list[list[Cell]] = [[*template.header[own], template.header[column]]]
    lines.append([POINTS, *[None] * section, table.max_points])
    for index, line in enumerate(template.lines):
        if index in found:
            lines.append([*line[own], found[index].score])
    return ExportFile(to_csv(lines, digits=2), spoilt_keys(lines, CANVAS_COLUMNS[1:4]), left_out(rows, found))


def _assignment_column(table: ResultsTable, template: Sheet) -> int:
    titles = {
        index: found[1]
        for index, title in enumerate(template.header)
        if (found := _ASSIGNMENT.fullmatch(title)) and not _COMPUTED.search(title)
    }
    fitting = [index for index, title in titles.items() if squeezed(title) == squeezed(table.assignment)]
    if len(fitting) == 1:
        return fitting[0]
    if len(titles) == 1 and not fitting:
        return next(iter(titles))
    raise GradingError(
        f"{template.name}: expected one assignment column called {table.assignment!r}, found "
        f"{', '.join(titles.values()) or 'none'}: delete the other assignments' columns, or rename it in Canvas"
    )


def _same_points(table: ResultsTable, template: Sheet, column: int) -> None:
    for line in template.lines:
        possible = number_in(line[column])
        if line[0].strip() == POINTS.strip() and possible is not None and abs(possible - table.max_points) > 0.005:
            raise GradingError(
                f"{template.name}: {template.header[column]} has {possible:g} points in Canvas, but {table.assignment} "
                f"has {table.max_points:g}: change it in Canvas and export again"
            )


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
            return make_canvas(table, sheet)
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


#: What the total is called in a system that knows assignments alone, and there it has so many points.
TITLE, MAX_POINTS = "Course total", 100.0
#: What its file is called.
NAME = "course-total"
TOTAL_COLUMNS = ("student", "last_name", "first_name", "email", "percent", "points", "max_points", "waiting", "dropped")
#: Bumped when a field of the JSON changes its meaning or goes away.


def make_total(total: CourseTotal, to: str) -> ExportFile:
    """``to``: csv or json; for other formats a total is :func:`as_assignment`."""
    return _csv(total) if to == "csv" else _json(total)


def total_remarks(total: CourseTotal) -> list[str]:
    """What an instructor must know about empty totals, a line each."""
    lines = [f"{name}: nothing is graded yet, and so it is left out" for name in total.left_out]
    if total.drop_lowest < total.rules.drop_lowest:
        lines.append(f"drop_lowest is {total.rules.drop_lowest}; dropped so far: {total.drop_lowest}")
    for name in total.assignments:
        states = [(row.student.id, part.state) for row in total.rows for part in row.waiting if part.assignment == name]
        missing = [student for student, state in states if state in ("nothing handed in", "refused")]
        waiting = [student for student, state in states if student not in missing]
        if waiting:
            lines.append(f"{name}: not decided yet: {named(waiting)}; their total is empty until then")
        if missing:
            lines.append(
                f"{name}: nothing handed in, or refused: {named(missing)}; their total is empty; "
                'missing = "zero" under [total] in course.toml counts it as 0'
            )
    return lines


def _csv(total: CourseTotal) -> ExportFile:
    """One line per student; opens in a spreadsheet, so it begins with a byte order mark."""
    titles = [f"{table.assignment} ({_worth(total, table)})" for table in total.tables]
    lines: list[list[Cell]] = [[*TOTAL_COLUMNS, *titles]]
    for row in total.rows:
        student = row.student
        lines.append([
            student.id, student.last_name, student.first_name, student.email, row.percent, row.points, row.max_points,
            ", ".join(part.assignment for part in row.waiting), ", ".join(row.dropped),
            *(part.score for part in row.parts),
        ])  # fmt: skip
    return ExportFile(to_csv(lines, bom=True))


def _worth(total: CourseTotal, table: ResultsTable) -> str:
    weight = total.weight(table.assignment)
    return number(table.max_points) + (f", weight {number(weight)}" if weight != 1 else "")


def _json(total: CourseTotal) -> ExportFile:
    whole = {
        "schema": SCHEMA_VERSION,
        "drop_lowest": total.drop_lowest,
        "missing": total.rules.missing,
        "left_out": list(total.left_out),
        "assignments": [
            {"assignment": table.assignment, "max_points": table.max_points, "weight": total.weight(table.assignment)}
            for table in total.tables
        ],
        "students": [_row_of(row) for row in total.rows],
    }
    return as_json(whole)


def _row_of(row: StudentTotal) -> dict[str, Any]:
    return {
        **person(row.student),
        "percent": row.percent,
        "points": row.points,
        "max_points": row.max_points,
        "assignments": [
            {"assignment": part.assignment, "state": part.state, "score": part.score,
             "max_points": part.max_points, "dropped": part.dropped}
            for part in row.parts
        ],
    }  # fmt: skip


def as_assignment(total: CourseTotal) -> ResultsTable:
    """The percentages as the scores of one assignment. Whoever handed in nothing has no line in it."""
    column = GradedExercise("course", "total", MAX_POINTS)
    rows = []
    for row in total.rows:
        status = "manual" if row.percent is None else "graded"
        nothing = row.percent is None and all(part.state == "nothing handed in" for part in row.parts)
        result = {} if nothing else {column.key: ExerciseResult(status, row.percent, MAX_POINTS)}
        rows.append(StudentResult(row.student, result))
    return ResultsTable(TITLE, (column,), tuple(rows))

"""The course total as a file: each assignment for people and programs, one percentage for other systems."""

from typing import Any

from autograder.exports.formats import as_json, person
from autograder.exports.sheet import Cell, ExportFile, number, to_csv
from autograder.gradebook.course_total import CourseTotal, StudentTotal
from autograder.gradebook.results import ExerciseResult, GradedExercise, ResultsTable, StudentResult, named

#: What the total is called in a system that knows assignments alone, and there it has so many points.
TITLE, MAX_POINTS = "Course total", 100.0
#: What its file is called.
NAME = "course-total"
COLUMNS = ("student", "last_name", "first_name", "email", "percent", "points", "max_points", "waiting", "dropped")
#: Bumped when a field of the JSON changes its meaning or goes away.
SCHEMA_VERSION = 1


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
    lines: list[list[Cell]] = [[*COLUMNS, *titles]]
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
        "students": [_student(row) for row in total.rows],
    }
    return as_json(whole)


def _student(row: StudentTotal) -> dict[str, Any]:
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

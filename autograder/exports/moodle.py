"""Moodle: an assignment's grading worksheet filled in, or a table for the gradebook's CSV import.

The worksheet (Assignment > View all submissions > Download grading worksheet) is read back by
``mod/assign/feedback/offline/importgradeslib.php`` of moodle/moodle: it must have ``Identifier``, ``Grade`` and
``Last modified (grade)``; ``Feedback comments`` is taken as HTML. An empty grade is passed over, and so is one above
the maximum. The gradebook's import (docs.moodle.org, "Grade import") maps columns as the instructor says: users by
username, ID number or email address; there an empty grade means none.
"""

import html
from collections.abc import Callable, Sequence

from autograder.errors import GradingError
from autograder.exports.sheet import (
    Cell,
    ExportFile,
    Line,
    Pass,
    Sheet,
    digits,
    emails,
    ids,
    left_out,
    lms_ids,
    local_part,
    match,
    names,
    number,
    number_in,
    says,
    spoilt_keys,
    squeezed,
    to_csv,
)
from autograder.gradebook.results import ResultsTable, StudentResult

COLUMNS = ("First name", "Last name", "Username", "Email address")
IDENTITY = ("First name", "Last name", "Surname", "Full name", "ID number", "Username", "Email address")
KEYS = ("Identifier", "ID number", "Username", "Email address")
WORKSHEET = ("Identifier", "Grade", "Last modified (grade)")
FEEDBACK = "Feedback comments"


def make(table: ResultsTable, template: Sheet | None) -> ExportFile:
    """Grade and feedback per student. template: the assignment's grading worksheet, or the gradebook's own export."""
    rows = [row for row in table.rows if row.exercises]
    if template is None:
        return _plain(table, rows)
    if template.column("Identifier") is not None:
        return _worksheet(table, rows, template)
    return _gradebook(table, rows, template)


def feedback(table: ResultsTable, row: StudentResult) -> str:
    """Per exercise the points, then why points are off and what people wrote; HTML. Empty while something waits."""
    if row.score is None:
        return ""
    lines = [
        f"{exercise.notebook}/{exercise.cell}: {number(points, 2)} of {number(exercise.max_points, 2)}"
        for exercise in table.exercises
        if exercise.key in row.exercises and (points := row.exercises[exercise.key].points or 0.0) + exercise.max_points
    ]
    if row.deduction:
        reason = row.lateness.reason if row.lateness else "late"
        lines.append(f"{reason}: {number(row.deduction, 2)} points off")
    lines += [f"{cell}: {comment}" for (_, cell), comment in row.comments.items()]
    return "<br>".join("<br>".join(html.escape(line, quote=False).splitlines()) for line in lines)


def _plain(table: ResultsTable, rows: list[StudentResult]) -> ExportFile:
    lines: list[list[Cell]] = [[*COLUMNS, table.assignment, f"{table.assignment} (feedback)"]]
    for row in rows:
        student = row.student
        lines.append(
            [student.first_name, student.last_name, student.id, student.email, row.score, feedback(table, row)]
        )
    note = "for Grades > Import > CSV file; to fill an assignment's grading worksheet instead, give it with --columns"
    return ExportFile(to_csv(lines, digits=2), (note, *spoilt_keys(lines, KEYS)))


def matching_passes(template: Sheet) -> list[Pass]:
    """How a student's line in a table of Moodle's is found, from the surest sign to the weakest.

    A student whom the course calls by digits is not the participant of that number: it is the assignment's own.
    """
    return [
        (ids, says(template, "Username")),
        (ids, says(template, "ID number")),
        (emails, says(template, "Email address")),
        (names, says(template, "Full name", change=squeezed)),
        (names, _both_names(template)),
        (lms_ids, says(template, "Identifier", change=digits)),
        (ids, says(template, "Email address", change=local_part)),
    ]


def match_worksheet(rows: Sequence[StudentResult], sheet: Sheet) -> dict[int, StudentResult]:
    """Number of the line -> its student. Raises GradingError for the worksheet of another assignment, or class."""
    found = match(rows, sheet, matching_passes(sheet))
    number = says(sheet, "Identifier", change=digits)
    for index, row in found.items():
        there, known = number(sheet.lines[index]), row.student.lms_user_id
        if known and there and known != there:
            raise GradingError(
                f"{sheet.name} looks like another assignment's worksheet: {row.student.id} has the number {there} in "
                f"it, and was collected under {known}"
            )
    if rows and not found:
        raise GradingError(f"{sheet.name} fits nobody: nobody in it is on the roster, by number, address or name")
    return found


def _both_names(template: Sheet) -> Callable[[Line], str]:
    first, last = says(template, "First name"), says(template, "Last name", "Surname")
    return lambda line: squeezed(first(line) + last(line))


def _worksheet(table: ResultsTable, rows: list[StudentResult], template: Sheet) -> ExportFile:
    grade = template.column("Grade")
    missing = [name for name in WORKSHEET if template.column(name) is None]
    if missing or grade is None:
        raise GradingError(
            f"{template.name}: expected Moodle's grading worksheet with {', '.join(WORKSHEET)}; {missing[0]} is not "
            "there: download it with Moodle's language set to English"
        )
    comments, maximum = template.column(FEEDBACK), template.column("Maximum grade")
    found = match_worksheet(rows, template)
    lines: list[list[Cell]] = [[*template.header]]
    too_many = []
    for index, given in enumerate(template.lines):
        if index not in found:
            continue
        row, line = found[index], [*given]
        limit = number_in(given[maximum]) if maximum is not None else None
        _same_points(table, template, limit)
        line[grade] = "" if row.score is None else number(row.score, 2)
        if comments is not None and row.score is not None:
            line[comments] = feedback(table, row)
        too_many += [row.student.id] if limit is not None and (row.score or 0.0) > limit + 0.005 else []
        lines.append([*line])
    notes = (f"Moodle passes over grades above its maximum: {', '.join(too_many)}",) if too_many else ()
    return ExportFile(to_csv(lines, digits=2), (*notes, *spoilt_keys(lines, KEYS)), left_out(rows, found))


def _same_points(table: ResultsTable, template: Sheet, limit: float | None) -> None:
    if limit is not None and abs(limit - table.max_points) > 0.005:
        raise GradingError(
            f"{template.name}: the assignment's maximum grade is {limit:g} in Moodle, but {table.assignment} has "
            f"{table.max_points:g} points: change it in Moodle and download the worksheet again"
        )


def _gradebook(table: ResultsTable, rows: list[StudentResult], template: Sheet) -> ExportFile:
    kept = [index for index, title in enumerate(template.header) if title.strip() in IDENTITY]
    if not {"ID number", "Username", "Email address"} & {template.header[index].strip() for index in kept}:
        raise GradingError(
            f"{template.name}: expected Moodle's grading worksheet (Identifier, Grade, ...) or its gradebook export "
            f"with Username, ID number or Email address, in English; found {', '.join(template.header[:6])}"
        )
    found = match(rows, template, matching_passes(template))
    lines: list[list[Cell]] = [
        [*(template.header[index] for index in kept), table.assignment, f"{table.assignment} (feedback)"]
    ]
    for number_, line in enumerate(template.lines):
        if number_ in found:
            row = found[number_]
            lines.append([*(line[index] for index in kept), row.score, feedback(table, row)])
    return ExportFile(to_csv(lines, digits=2), spoilt_keys(lines, KEYS), left_out(rows, found))

"""Canvas's gradebook import.

Columns as Canvas reads them (``lib/gradebook_importer.rb`` and ``gradebook_exporter.rb`` of instructure/canvas-lms):
``Student``, ``ID``, perhaps ``SIS User ID`` and ``SIS Login ID``, ``Section``, then ``Title (id)`` for each assignment;
the second line is ``    Points Possible``. Without its id in brackets an assignment is made anew. A student is found by
``ID``, then ``SIS User ID``, ``SIS Login ID`` and at last by name; scores are compared with two decimals. An empty cell
clears the score that Canvas holds; a student without a line is left alone, and so is every column that is not there.
"""

import re

from autograder.errors import GradingError
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
    number_in,
    says,
    spoilt_keys,
    squeezed,
    to_csv,
)
from autograder.gradebook.results import ResultsTable, StudentResult

COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "    Points Possible"
_ASSIGNMENT = re.compile(r"(.*)\s\((\d+)\)", re.DOTALL)
#: Computed by Canvas, with the names of groups and terms around them.
_COMPUTED = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")


def make(table: ResultsTable, template: Sheet | None) -> ExportFile:
    """One column: the assignment's score. template: Canvas's own export of this course's gradebook."""
    rows = [row for row in table.rows if row.exercises]
    return _plain(table, rows) if template is None else _filled(table, rows, template)


def _plain(table: ResultsTable, rows: list[StudentResult]) -> ExportFile:
    lines: list[list[Cell]] = [[*COLUMNS, table.assignment], [POINTS, None, None, None, None, table.max_points]]
    for row in rows:
        student = row.student
        name = f"{student.last_name}, {student.first_name}".strip(", ") or student.id
        lines.append([name, student.lms_user_id, None, student.id, None, row.score])
    note = f"Canvas will make a new assignment {table.assignment!r}: give its own export with --columns to fill one"
    return ExportFile(to_csv(lines, digits=2), (note, *spoilt_keys(lines, COLUMNS[1:4])))


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
    return ExportFile(to_csv(lines, digits=2), spoilt_keys(lines, COLUMNS[1:4]), left_out(rows, found))


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

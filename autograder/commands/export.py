"""``autograder export ASSIGNMENT --to FORMAT``: the class's grades, for an LMS, a spreadsheet or a program.

``autograder export --total --to FORMAT``: the same for the whole course.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autograder.commands._options import OneAssignment, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.exports.export_file import ExportFile
    from autograder.model.course import Course

EXAMPLE = "autograder export distilbert --to canvas --columns gradebook.csv"
Format = Literal["canvas", "moodle", "csv", "json", "gradescope"]


def run(
    context: typer.Context,
    to: Annotated[Format, typer.Option(help="The format.")],
    assignment: OneAssignment = None,
    total: Annotated[
        bool, typer.Option("--total", help="The total over all assignments, by [total] in course.toml.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="File to write (default: in exports/).")] = None,
    columns: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Canvas's or Moodle's own table, whose columns are to be filled in."),
    ] = None,
) -> int:
    """Write the grades for Canvas, Moodle, Gradescope, a spreadsheet or a program.

    What is not graded yet is an empty cell, never a 0. Who and what waits is said on stderr.

    Exit code 1 where students are missing in the table given with --columns: they are listed.
    """
    from autograder.exports.remarks import named
    from autograder.files.atomic import write_file
    from autograder.model.plain_text import one_line

    if (assignment is None) != total:
        raise GradingError("expected an ASSIGNMENT, or --total for the whole course, and not both")
    course = open_course(context)
    path, made, lines = _total(course, to, columns) if assignment is None else _one(course, assignment, to, columns)
    path = out or path
    write_file(path, made.data)
    left_out = [f"left out, not in {columns}: {named(made.left_out)}"] if made.left_out else []
    for line in [*lines, *made.notes, *left_out]:
        print(f"autograder: {one_line(line)}", file=sys.stderr)
    Output(context).say(str(path))
    return 1 if made.left_out else 0


def _one(course: Course, assignment: str, to: str, columns: Path | None) -> tuple[Path, ExportFile, list[str]]:
    from autograder.classroom.standing import standing_remarks
    from autograder.exports import default_path, make
    from autograder.exports.remarks import remarks
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties

    table = gather(course, assignment)
    made = make(table, to, columns)
    store_penalties(course, table)  # feedback and nbgrader's own pages say the same
    return default_path(course.root, assignment, to), made, remarks(table) + standing_remarks(course, assignment)


def _total(course: Course, to: str, columns: Path | None) -> tuple[Path, ExportFile, list[str]]:
    from autograder.classroom.standing import standing_remarks
    from autograder.exports.total import make_total, total_path, total_remarks
    from autograder.gradebook.course_total import gather_total
    from autograder.gradebook.late.penalties import store_penalties

    total = gather_total(course)
    made = make_total(total, to, columns)
    for table in total.tables:
        store_penalties(course, table)
    names = [table.assignment for table in total.tables]
    standing = [f"{name}: {remark}" for name in names for remark in standing_remarks(course, name)]
    return total_path(course.root, to), made, total_remarks(total) + standing

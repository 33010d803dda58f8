"""``autograder export ASSIGNMENT --to FORMAT``: the class's grades, for an LMS, a spreadsheet or a program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.commands._options import AssignmentName, open_course
from autograder.commands._output import Output

EXAMPLE = "autograder export distilbert --to canvas --columns gradebook.csv"
Format = Literal["canvas", "moodle", "csv", "json", "gradescope"]


def run(
    context: typer.Context,
    assignment: AssignmentName,
    to: Annotated[Format, typer.Option(help="The format.")],
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
    from autograder.exports import default_path, make
    from autograder.exports.remarks import named, remarks
    from autograder.files.atomic import write_file
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties
    from autograder.model.plain_text import one_line

    course = open_course(context)
    table = gather(course, assignment)
    made = make(table, to, columns)
    store_penalties(course, table)  # feedback and nbgrader's own pages say the same
    path = out or default_path(course.root, assignment, to)
    write_file(path, made.data)
    left_out = [f"left out, not in {columns}: {named(made.left_out)}"] if made.left_out else []
    for line in [*remarks(table), *made.notes, *left_out]:
        print(f"autograder: {one_line(line)}", file=sys.stderr)
    Output(context).say(str(path))
    return 1 if made.left_out else 0

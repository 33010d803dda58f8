"""``autograder export ASSIGNMENT --to FORMAT``: the class's grades, for an LMS, a spreadsheet or a program.

``autograder export --total --to FORMAT``: the same for the whole course.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands._options import OneAssignment, open_course
from autograder.commands._output import Output, warn_of_standing
from autograder.errors import GradingError
from autograder.exports import FOR_ANYBODY, WITH_TEMPLATE, Format
from autograder.model.plain_text import on_console, one_line

if TYPE_CHECKING:
    from autograder.exports.sheet import ExportFile
    from autograder.gradebook.results import ResultsTable
    from autograder.lms.transfer import CanvasChanges
    from autograder.model.course import Course


EXAMPLE = "autograder export distilbert --to canvas --columns gradebook.csv"


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
    push: Annotated[
        bool,
        typer.Option(
            "--push",
            help="With --to canvas: send grades and feedback pages to Canvas itself. course.toml says where the "
            "assignment lies there, the variable CANVAS_API_TOKEN holds the token.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --push: send; else it is only shown.")] = False,
) -> int:
    """Write the grades for Canvas, Moodle, a spreadsheet or a program; or send them to Canvas.

    What is not graded yet is an empty cell, never a 0. Who and what waits is said on stderr.

    Exit code 1 where students are left out, because the table given with --columns or Canvas does not have them, or
    have handed in something newer than what is graded: they are listed.
    """
    from autograder.exports.formats import NAME, default_path
    from autograder.files.atomic import write_file
    from autograder.gradebook.results import named

    if (assignment is None) != total:
        raise GradingError("expected an ASSIGNMENT, or --total for the whole course, and not both")
    if push and (to != "canvas" or assignment is None or out or columns):
        raise GradingError("--push goes with --to canvas and an ASSIGNMENT, without --out and --columns")
    if yes and not push:
        raise GradingError("--yes goes with --push: a file is written without asking")
    course = open_course(context)
    if push and assignment is not None:
        return send(course, Output(context), assignment, yes=yes)
    made, lines, assignments = _made(course, assignment, to, columns)
    path = out or default_path(course.root, assignment or NAME, to)
    write_file(path, made.data)
    left_out = [f"left out, not in {columns}: {named(made.left_out)}"] if made.left_out else []
    output = Output(context)
    for line in [*lines, *made.notes, *left_out]:
        output.warn(f"autograder: {one_line(line)}")
    code = warn_of_standing(output, course, *assignments)
    output.say(str(path))
    return 1 if made.left_out else code


def _made(
    course: "Course", assignment: str | None, to: Format, columns: Path | None
) -> "tuple[ExportFile, list[str], list[str]]":
    """The file, what is to be said of it, and the assignments in it: one, or all where none is given."""
    from autograder.exports.formats import as_assignment, make, make_total, remarks, total_remarks
    from autograder.gradebook.course_total import gather_total
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties

    if assignment is not None:
        tables = [table := gather(course, assignment)]
        lines, made = remarks(table), make(_known_as(course, table, to), to, columns)
    else:
        total = gather_total(course)
        tables, lines = list(total.tables), total_remarks(total)
        whole = columns is None and to in FOR_ANYBODY
        made = make_total(total, to) if whole else make(_known_as(course, as_assignment(total), to), to, columns)
    for table in tables:
        store_penalties(course, table)  # feedback and nbgrader's own pages say the same
    return made, lines, [table.assignment for table in tables]


def _known_as(course: "Course", table: "ResultsTable", to: Format) -> "ResultsTable":
    """The table with the number by which the LMS knows each student."""
    from autograder.exports.sheet import known_as
    from autograder.gradebook.roster import roster_of

    if to not in WITH_TEMPLATE:
        return table
    students = {row.student.id: row.student for row in table.rows}
    roster = roster_of(course.root, students, to, table.assignment)
    return replace(table, rows=known_as(table.rows, roster))


def send(course: "Course", output: Output, assignment: str, *, yes: bool) -> int:
    """Send grades and feedback pages to Canvas; returns the exit code."""
    from autograder.feedback import write_feedback
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties
    from autograder.gradebook.roster import roster_of
    from autograder.lms.pages import pages_of
    from autograder.lms.transfer import changes, open_assignment

    there = open_assignment(course.file.canvas, assignment)
    table = gather(course, assignment)
    store_penalties(course, table)
    ready = [row for row in table.rows if row.verdict is not None and row.score is not None]
    pages = pages_of({row.student.id: write_feedback(course, assignment, row.student.id, row) for row in ready})
    students = {row.student.id: row.student for row in table.rows}
    numbers = roster_of(course.root, students, "canvas", assignment).number_of
    planned = changes(table, pages, numbers, there)
    _show(output, assignment, planned)
    code = warn_of_standing(output, course, assignment)
    if not yes:
        output.problem("nothing was sent: look at the table and say --yes")
        return 2
    failed = {}
    for change in planned.students:
        try:
            if not change.empty:
                there.send(change.user, change.score, dict(change.files))
        except GradingError as error:
            failed[change.student] = str(error)
    sent = sum(not change.empty for change in planned.students) - len(failed)
    output.say(f"sent for {sent} students; {sum(change.empty for change in planned.students)} had everything")
    for student, reason in failed.items():
        output.warn(f"autograder: {student}: {reason}; the same command sends it again")
    return 1 if failed or planned.left_out else code


def _show(output: Output, assignment: str, planned: "CanvasChanges") -> None:
    table = output.table("student", "id", "score there", "score", "new pages", title=f"{assignment} in Canvas")
    for one in planned.students:
        before = "–" if one.before is None else f"{one.before:g}"
        after = "the same" if one.score is None else f"{one.score:g}"
        table.add_row(*map(on_console, (one.student, one.user, before, after, ", ".join(one.files) or "–")))
    output.console.print(table)
    for student, reason in planned.left_out.items():
        output.problems.print(f"left out: {on_console(student)}: {on_console(reason)}", soft_wrap=True)

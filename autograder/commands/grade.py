"""``autograder grade ASSIGNMENT``: grade a class, with a progress bar and a table at the end."""

import gc
import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.commands._options import AsJson, RequireOutside, SomeAssignments, Students, open_course
from autograder.commands._output import Output, counted
from autograder.errors import GOES_ON, GradingError, said
from autograder.model.plain_text import MAX_NAME, on_console

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.classroom.rows import Row
    from autograder.classroom.run import Progress
    from autograder.classroom.workers import GradingOptions, Isolation
    from autograder.gradebook.groups import Mates
    from autograder.model.course import Course

WARNING = (
    "Without isolation a submission can read references and other submissions, write files, use the network and "
    "outlive its grading. Only for submissions that you trust."
)


EXAMPLE = "autograder grade distilbert --workers 4"


def run(
    context: typer.Context,
    assignment: SomeAssignments,
    student: Students = None,
    workers: Annotated[
        int, typer.Option(metavar="N", help="Processes at work (default: one per core).", show_default=False)
    ] = os.cpu_count() or 1,
    force: Annotated[bool, typer.Option("--force", help="Grade again what is graded already.")] = False,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Hand the work to this Dask scheduler, tcp://HOST:PORT.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="For one cell; a notebook gets ten times as much.")
    ] = None,
    no_isolation: Annotated[
        bool, typer.Option("--no-isolation", help="Run students' code unconfined (see what it says).")
    ] = False,
    require_outside: RequireOutside = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="List what was put right in submissions, below the table.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Grade a class and show a table. What is graded already is left alone.

    Exit codes: 0 graded; 1 graded, but some submissions failed, which are listed; 2 nothing was graded.
    """
    if as_json and len(assignment) > 1:
        raise GradingError("--json goes with one assignment: one document for each")
    if workers < 1:
        raise GradingError(f"--workers must be at least 1, not {workers}")
    if time_limit is not None and time_limit <= 0:
        raise GradingError(f"--time-limit must be a number of seconds above 0, not {time_limit:g}")
    output = Output(context, as_json=as_json, width=120)
    course = open_course(context)
    if no_isolation:
        output.problems.print(f"[yellow]{WARNING}[/]")
    limits = course.file.limits
    if time_limit:
        limits = replace(limits, cell_seconds=time_limit, submission_seconds=10 * time_limit)
    from autograder.classroom.workers import GradingOptions
    from autograder.model.course import assignments_named

    isolation: Isolation = "none" if no_isolation else "auto"
    codes = []
    for name in assignments_named(course, assignment):
        options = GradingOptions(
            name, tuple(student or ()), workers, force, scheduler, isolation, limits, require_outside
        )
        if len(assignment) > 1:
            output.say(f"{name}:")
        try:
            codes.append(_tell(output, course, name, _grade(output, course, options), force, notes))
        except GradingError as error:
            if len(assignment) == 1:
                raise
            output.warn(f"{name}: not graded: {error}")
            codes.append(2)
    return min(2 if min(codes) == 2 else 1, max(codes))


def _grade(output: Output, course: "Course", options: "GradingOptions") -> "list[Row]":
    from autograder.classroom.run import grade_class
    from autograder.references.store import References

    if warning := References.of_course(course.root).warning(options.assignment):
        output.problems.print(f"[yellow]{on_console(warning)}[/]", soft_wrap=True)
    gc.freeze()  # what was imported stays: no look for garbage goes through it again
    with output.progress("graded") as told:

        def report(progress: "Progress") -> None:
            told(progress.done, progress.total, f"[red]{on_console(progress.last_failure, 60)}[/]")

        try:
            return grade_class(course, options, report)
        except OSError as error:
            raise GradingError(f"{said(error, course.root)}; when that is mended, {GOES_ON}") from error


def _tell(output: Output, course: "Course", assignment: str, rows: "list[Row]", force: bool, notes: bool) -> int:
    """Show what has become of everybody; the exit code."""
    from autograder.classroom.status import stale_grade_warnings
    from autograder.gradebook.groups import mates
    from autograder.gradebook.marks import in_groups

    console, standing, together = output.console, stale_grade_warnings(course, assignment), mates(course, assignment)
    if not output.as_json:
        print_table(console, rows, together)
        _tell_notes(console, assignment, rows, notes)
    for (judged, why), number in Counter((row.judged, row.again) for row in rows if row.again).items():
        what = "Judged again, by the last run" if judged else "Graded again"
        console.print(on_console(f"{what} ({why}): {counted(number)}"), soft_wrap=True)
    rewritten = sum(row.rewritten for row in rows)
    if rewritten:
        console.print(f"The gradebook lacked the grades of {counted(rewritten)}: they are in it again")
    before = sum(row.skipped for row in rows)
    if force and before:
        console.print(f"--force went on with an interrupted run, which had graded {before} of {counted(len(rows))}")
    for row in rows:
        if row.failure:
            name = on_console(row.student, MAX_NAME)
            output.problems.print(f"[red]{name}[/]: {on_console(row.failure)}", soft_wrap=True)
        elif row.ungradable:
            which = ", ".join(f"{one}.ipynb" for one in row.ungradable)
            said = f"{which} could not be graded: ask for it again, or give points in the formgrader"
            output.problems.print(f"[red]{on_console(row.student, MAX_NAME)}[/]: {on_console(said)}", soft_wrap=True)
    for one in in_groups(one for row in rows for one in row.offered):
        output.problems.print(on_console(f"For you to do: {one}"), soft_wrap=True, highlight=False)
    if any(row.offered for row in rows):
        output.problems.print("'autograder mark' shows them in groups, 'autograder accept' gives one student's points")
    for remark in standing:
        output.problems.print(on_console(remark), soft_wrap=True)
    output.document(
        {"assignment": assignment, "students": [_entry(row, together) for row in rows], "remarks": standing}
    )
    return 1 if any(row.failure or row.ungradable for row in rows) else 0


def _tell_notes(console: "Console", assignment: str, rows: "list[Row]", wanted: bool) -> None:
    """All notes, or how to see those that the table only counts."""
    for row in rows if wanted else ():
        for note in row.notes:
            console.print(f"{on_console(row.student, MAX_NAME)}: {on_console(note)}", soft_wrap=True)
    if not wanted and any(len(row.notes) > 1 for row in rows):
        console.print(f"'autograder grade {on_console(assignment)} --notes' lists the notes", soft_wrap=True)


def _entry(row: "Row", together: "Mates") -> dict[str, Any]:
    """One student in the JSON document. Points are null where a person has yet to read something."""
    return {
        "student": row.student,
        "with": together.get(row.student, ()),
        "points": None if row.failure or row.waiting else row.total,
        "points_so_far": row.total if row.is_graded else None,
        "max_points": row.most,
        "notebooks": row.points,
        "failed": row.failed,
        "waiting": row.waiting,
        "not_handed_in": row.missing,
        "could_not_be_graded": row.ungradable,
        "late": row.late,
        "offered": [str(one) for one in row.offered],
        "notes": row.notes,
        "graded_before": row.skipped,
        "failure": row.failure,
    }


def print_table(console: "Console", rows: "list[Row]", together: "Mates") -> None:
    """Per student and notebook the points, what failed, what waits for a human, what was put right.

    together: student to the others of their group, who have the same points.
    """
    from rich.table import Table

    notebooks = list(dict.fromkeys(name for row in rows for name in row.points))
    table = Table()
    table.add_column("student", no_wrap=True)
    for name in notebooks:
        table.add_column(on_console(name.partition("_")[0]), justify="right", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("what failed", overflow="fold")
    for row in rows:
        points = [_points(row, name) for name in notebooks]
        more = "+" if row.waiting else ""
        total = f"{row.total:g}{more}/{row.most:g}" if row.is_graded else "–"
        who = ", ".join(on_console(one, MAX_NAME) for one in (row.student, *together.get(row.student, ())))
        table.add_row(who, *points, total, on_console(_remarks(row)))
    console.print(table)
    if any(row.waiting for row in rows):
        console.print("+ answers are still to be read by a person: 'to be read' names them")


def _points(row: "Row", notebook: str) -> str:
    points, so_far = row.points.get(notebook), row.so_far.get(notebook)
    if row.max_points.get(notebook) == 0 and not row.failure:
        return ""  # there is nothing to earn
    if points is None and so_far is not None and not row.failure and notebook not in row.ungradable:
        return f"{so_far:g}+"
    return "–" if points is None else f"{points:g}"


def _remarks(row: "Row") -> str:
    if row.failure:
        return "could not be graded"
    remarks = []
    if row.missing:
        remarks.append(f"not handed in: {', '.join(name.partition('_')[0] for name in row.missing)}")
    if row.ungradable:
        remarks.append(f"could not be graded: {', '.join(name.partition('_')[0] for name in row.ungradable)}")
    if row.failed:
        remarks.append(", ".join(row.failed) if row.total or row.waiting else "everything")
    if row.too_long:
        remarks.append(f"took too long: {', '.join(row.too_long)}")
    if row.waiting:
        remarks.append(f"to be read: {', '.join(row.waiting)}")
    if row.offered:
        remarks.append("look at what is said below")
    if row.late:
        remarks.append(row.late)
    if row.kept_manual:
        remarks.append(f"{row.kept_manual} marks by hand kept")
    if row.notes:
        remarks.append(f"({len(row.notes)} notes)" if len(row.notes) > 1 else f"({row.notes[0]})")
    if row.skipped:
        remarks.append("graded before")
    if row.again:
        remarks.append(f"{'judged again' if row.judged else 'again'}: {row.again}")
    return "; ".join(remarks)

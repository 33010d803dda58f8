"""``autograder waive ASSIGNMENT EXERCISE``: let an exercise count in full for everybody, or for nobody."""

from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands._options import AssignmentName, ExerciseName, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError
from autograder.model.plain_text import MAX_NAME, meant, on_console, one_line

if TYPE_CHECKING:
    from autograder.gradebook.results import ResultsTable
    from autograder.model.course import Course

EXAMPLE = 'autograder waive distilbert attention_mask --full --reason "the text was ambiguous"'


def run(
    context: typer.Context,
    assignment: AssignmentName,
    exercise: ExerciseName,
    full: Annotated[bool, typer.Option("--full", help="Everybody who handed in has all its points.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="It counts in no sum.")] = False,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take the waiver back.")] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; students read it.", show_default=False)] = "",
    on: Annotated[str, typer.Option("--date", metavar="DATE", help="YYYY-MM-DD (default: today).")] = "",
) -> int:
    """Let an exercise count in full for everybody, or for nobody.

    The reason is kept in waivers.toml. Verdicts and marks stay as they are: with --withdraw they count again. The
    totals that change are listed.
    """
    from autograder.gradebook.waivers import NAME, Waiver, read_waivers, write_waivers

    if full + drop + withdraw != 1:
        raise GradingError("expected one of --full, --drop and --withdraw")
    if not withdraw and not reason.strip():
        raise GradingError('--reason is missing: say why in a few words, such as --reason "the text was ambiguous"')
    course, output = open_course(context), Output(context, width=120)
    notebook, cell = _found(course, assignment, exercise)
    before = _table(course, assignment)
    known = read_waivers(course.root)
    others = [one for one in known if (one.assignment, *one.key) != (assignment, notebook, cell)]
    if withdraw and len(others) == len(known):
        raise GradingError(f"{cell} of {assignment} is not waived: {NAME} says nothing about it")
    if not withdraw:
        counts = "full" if full else "drop"
        others.append(Waiver(assignment, notebook, cell, counts, one_line(reason.strip()), _date(on)))  # type: ignore[arg-type]
    write_waivers(course.root, others)
    _tell(output, before, _table(course, assignment))
    output.say(str(course.root / NAME))
    return 0


def _found(course: "Course", assignment: str, exercise: str) -> tuple[str, str]:
    """(notebook, cell). Raises GradingError where there is no such exercise, or there are two."""

    from autograder.assignment.assignment import Assignment
    from autograder.model import cells

    source = Assignment.open(course, assignment).source
    keys = [(name, cells.grade_id(cell) or "") for name, book in source.items() for cell in book.cells
            if cells.is_graded(cell)]  # fmt: skip
    found = [key for key in keys if exercise in (key[1], "/".join(key))]
    if len(found) == 1:
        return found[0]
    if found:
        raise GradingError(f"{exercise!r} is in {len(found)} notebooks: say {' or '.join(map('/'.join, found))}")
    hint = meant(exercise, [cell for _, cell in keys]) or f"known are {', '.join(cell for _, cell in keys) or 'none'}"
    raise GradingError(f"{assignment} has no exercise {exercise!r}; {hint}")


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text) if text else date.today()
    except ValueError:
        raise GradingError(f"--date: expected a date such as 2026-11-20, got {text!r}") from None


def _table(course: "Course", assignment: str) -> "ResultsTable":
    from contextlib import nullcontext

    from autograder.gradebook.gather import gather_from
    from autograder.gradebook.read import open_book

    with open_book(course.db_url) or nullcontext() as book:
        return gather_from(course, assignment, book)


def _tell(output: Output, before: "ResultsTable", after: "ResultsTable") -> None:
    old = {row.student.id: row for row in before.rows}
    table = output.table("student", ">old", ">new")
    changed = 0
    for row in after.rows:
        was, now = (f"{one.points_so_far:g}/{one.max_points:g}" for one in (old[row.student.id], row))
        if was != now:
            changed += 1
            table.add_row(on_console(row.student.id, MAX_NAME), was, now)
    if changed:
        output.console.print(table)
    output.console.print(f"Points of {changed} of {len(after.rows)} students change.")

"""``autograder collect ASSIGNMENT [ARCHIVE]``: sort what Canvas, Moodle, GitHub or nbgrader's exchange hands out."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from autograder.commands._options import AsJson, AssignmentName, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from datetime import datetime

    from autograder.collect import Plan, WrittenSubmission
    from autograder.gradebook.late.times import Record
    from autograder.model.course import Course

EXAMPLE = "autograder collect distilbert submissions.zip --names students.csv"
_SAID = {
    "new": "written",
    "unchanged": "there already",
    "replaced": "replaced",
    "differs": "left alone: another submission is there (--force replaces it and keeps the old one)",
    "empty": "nothing that the assignment asks for",
    "refused": "left alone: there is a link in that place",
}
_AMISS = ("differs", "empty", "refused")


def run(
    context: typer.Context,
    assignment: AssignmentName,
    archive: Annotated[
        Path | None,
        typer.Argument(
            metavar="ARCHIVE",
            help="Canvas's or Moodle's zip, or a folder of clones; none with --from exchange.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        Literal["canvas", "moodle", "github", "exchange"] | None, typer.Option("--from", help="Default: recognised.")
    ] = None,
    names: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Columns id, student: whose LMS id is whose.")
    ] = None,
    times: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Columns id, time: when each came in; or Moodle's grading worksheet as it is.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace submissions that differ; the old ones are kept.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Sort what Canvas, Moodle, GitHub or nbgrader's exchange hands out into submitted/.

    Exit codes: 0 all of it lies in its place; 1 something was left alone or ignored, and is listed;
    2 nothing was written.
    """
    from autograder.collect import make_plan, read_moments, read_names, write_plan
    from autograder.gradebook.late.file import read_zone
    from autograder.model.assignment import Assignment

    course, output = open_course(context), Output(context, as_json=as_json)
    with _said_where(course):
        opened = Assignment.open(course, assignment)
        if (archive is None) != (kind == "exchange"):
            raise GradingError(
                "give a zip or a folder of clones; without one, --from exchange collects from nbgrader's"
            )
        people = read_names(names) if names else {}
        moments = read_moments(times, read_zone(course.root)) if times else {}
        own = course.root / ".autograder"
        own.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="collecting-", dir=own) as aside:
            plan = make_plan(opened, archive or course, Path(aside), kind, people)
            records = dict(_times(plan, moments))
            _show(output, plan, records)
            if not yes and not _agreed(output, course):
                output.problem("nothing was written")
                return 2
            outcomes = write_plan(course, assignment, plan, force)
        timeless = _record(course, assignment, outcomes, records)
    _tell(output, plan, outcomes, timeless)
    output.document(_document(assignment, plan, outcomes, timeless))
    return 1 if plan.ignored or any(outcome.what in _AMISS for outcome in outcomes) else 0


@contextmanager
def _said_where(course: Course) -> Iterator[None]:
    """Raises GradingError, with the file's name, for one that cannot be written."""
    try:
        yield
    except OSError as error:
        name = error.filename2 or error.filename or course.root
        raise GradingError(f"{name} cannot be written: {error.strerror}; what was collected before stays") from error


def _document(assignment: str, plan: Plan, outcomes: list[WrittenSubmission], timeless: list[str]) -> dict[str, Any]:
    files = {one.student: sorted(one.taken) for one in plan.students}
    return {
        "assignment": assignment,
        "from": plan.kind,
        "students": [
            {
                "student": outcome.student,
                "outcome": outcome.what,
                "files": files[outcome.student],
                "replaced": str(outcome.kept_at) if outcome.kept_at else None,
            }
            for outcome in outcomes
        ],
        "ignored": [{"file": name, "reason": reason} for name, reason in plan.ignored],
        "nothing_from": plan.missing,
        "without_time": timeless,
    }


def _times(plan: Plan, moments: dict[str, datetime]) -> Iterator[tuple[str, Record]]:
    """What is known about when each came in: the instructor's list before the exchange."""
    from autograder.gradebook.late.times import Record

    for one in plan.students:
        submission = one.came_in.submission if one.came_in else ""
        given = next((moments[key] for key in (one.student, one.person.id) if key in moments), None)
        if given is not None:
            yield one.student, Record(given, submission)
        elif one.came_in is not None:
            yield one.student, one.came_in


def _record(course: Course, assignment: str, outcomes: list[WrittenSubmission], times: dict[str, Record]) -> list[str]:
    """Record what is known of the submissions that are there now, and nothing of those they replaced.

    Returns the students without a recorded time.
    """
    from autograder.gradebook.late.times import read_times, record_times

    there = {one.student: one.what for one in outcomes if one.what in ("new", "replaced", "unchanged")}
    replaced = {student for student, what in there.items() if what != "unchanged"} - set(times)
    record_times(
        course.root, assignment, {student: times[student] for student in sorted(set(there) & set(times))}, replaced
    )
    return sorted(set(there) - set(read_times(course.root, assignment)))


def _show(output: Output, plan: Plan, times: dict[str, Record]) -> None:
    from rich.table import Table

    from autograder.model.plain_text import on_console

    table = Table(title=f"as {plan.kind} names them")
    for head in ("student", "id", "files", "came in"):
        table.add_column(head, overflow="fold")
    for one in plan.students:
        when = f"{times[one.student].time:%Y-%m-%d %H:%M %Z}" if one.student in times else "LATE" if one.late else "–"
        files = ", ".join(sorted(one.taken)) or "–"
        table.add_row(*map(on_console, (one.student, one.person.id, files, when)))
    output.console.print(table)
    for one in plan.students:
        for note in one.notes:
            output.console.print(f"{on_console(one.student)}: {on_console(note)}", soft_wrap=True)
    for name, reason in plan.ignored:
        output.problems.print(f"ignored: {on_console(name)}: {on_console(reason)}", soft_wrap=True)
    if plan.missing:
        output.console.print(f"nothing from: {on_console(', '.join(plan.missing), 20_000)}", soft_wrap=True)


def _agreed(output: Output, course: Course) -> bool:
    if output.quiet or output.as_json or not sys.stdin.isatty():
        raise GradingError("nothing was written: look at the table and say --yes")
    return input(f"Write this into {course.root / course.settings.submitted_directory}? [y/N] ").strip().lower() in (
        "y",
        "yes",
    )


def _tell(output: Output, plan: Plan, outcomes: list[WrittenSubmission], timeless: list[str]) -> None:
    from autograder.model.plain_text import on_console

    for outcome in outcomes:
        kept = f"; the old one is in {outcome.kept_at}" if outcome.kept_at else ""
        console = output.problems if outcome.what in _AMISS else output.console
        console.print(f"{on_console(outcome.student)}: {_SAID[outcome.what]}{on_console(kept)}", soft_wrap=True)
    marked = [one.student for one in plan.students if one.late and one.student in timeless]
    if timeless:
        output.console.print(
            f"{len(timeless)} without a recorded time: they count as on time (--times FILE.csv records them)"
        )
    if marked:
        output.console.print(
            f"among them late, says {plan.kind}, which does not say when: {on_console(', '.join(marked))}",
            soft_wrap=True,
        )

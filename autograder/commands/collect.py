"""``autograder collect ASSIGNMENT [ARCHIVE]``: sort what Canvas, Moodle, GitHub or nbgrader's exchange hands out."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from autograder.errors import GradingError
from autograder.model.plain_text import on_console

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from autograder.collect import Outcome, Plan
    from autograder.gradebook.late.times import Record
    from autograder.model.course import Course

_SAID = {
    "new": "written",
    "unchanged": "there already",
    "replaced": "replaced",
    "differs": "left alone: another submission is there (--force replaces it and keeps the old one)",
    "empty": "nothing that the assignment asks for",
    "refused": "left alone: there is a link in that place",
}


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("collect", help="sort submissions into submitted/", description=__doc__)
    parser.add_argument("assignment")
    archive = "Canvas's or Moodle's zip, or a folder of clones; none with --from exchange"
    parser.add_argument("archive", type=Path, nargs="?", help=archive)
    kinds = ("canvas", "moodle", "github", "exchange")
    parser.add_argument("--from", dest="kind", choices=kinds, help="default: recognised")
    parser.add_argument("--names", type=Path, metavar="FILE.csv", help="columns id, student: whose LMS id is whose")
    parser.add_argument(
        "--times", type=Path, metavar="FILE.csv",
        help="columns id, time: when each came in; or Moodle's grading worksheet as it is",
    )  # fmt: skip
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.add_argument("--force", action="store_true", help="replace submissions that differ; the old ones are kept")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    try:
        return _collect(args)
    except OSError as error:
        name = error.filename2 or error.filename or args.course
        raise GradingError(f"{name} cannot be written: {error.strerror}; what was collected before stays") from error


def _collect(args: argparse.Namespace) -> int:
    from autograder.collect import make_plan, read_moments, read_names, write_plan
    from autograder.gradebook.late.file import read_zone
    from autograder.model.assignment import Assignment
    from autograder.model.course import Course

    console = Console() if sys.stdout.isatty() else Console(width=140)
    course = Course(args.course)
    assignment = Assignment.open(course, args.assignment)
    if (args.archive is None) != (args.kind == "exchange"):
        raise GradingError("give a zip or a folder of clones; without one, --from exchange collects from nbgrader's")
    names = read_names(args.names) if args.names else {}
    moments = read_moments(args.times, read_zone(course.root)) if args.times else {}
    own = course.root / ".autograder"
    own.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="collecting-", dir=own) as aside:
        plan = make_plan(assignment, args.archive or course, Path(aside), args.kind, names)
        times = dict(_times(plan, moments))
        _show(console, plan, times)
        if not args.yes and not _agreed(course):
            console.print("nothing was written")
            return 2
        outcomes = write_plan(course, args.assignment, plan, args.force)
    timeless = _record(course, args.assignment, outcomes, times)
    return _tell(console, plan, outcomes, timeless)


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


def _record(course: Course, assignment: str, outcomes: list[Outcome], times: dict[str, Record]) -> list[str]:
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


def _show(console: Console, plan: Plan, times: dict[str, Record]) -> None:
    table = Table(title=f"as {plan.kind} names them")
    for head in ("student", "id", "files", "came in"):
        table.add_column(head, overflow="fold")
    for one in plan.students:
        when = f"{times[one.student].time:%Y-%m-%d %H:%M %Z}" if one.student in times else "LATE" if one.late else "–"
        files = ", ".join(sorted(one.taken)) or "–"
        table.add_row(*map(on_console, (one.student, one.person.id, files, when)))
    console.print(table)
    for one in plan.students:
        for note in one.notes:
            console.print(f"{on_console(one.student)}: {on_console(note)}", soft_wrap=True)
    for name, reason in plan.ignored:
        console.print(f"ignored: {on_console(name)}: {on_console(reason)}", soft_wrap=True)
    if plan.missing:
        console.print(f"nothing from: {on_console(', '.join(plan.missing), 20_000)}", soft_wrap=True)


def _agreed(course: Course) -> bool:
    if not sys.stdin.isatty():
        raise GradingError("nothing was written: look at the table and say --yes")
    return input(f"Write this into {course.root / course.settings.submitted_directory}? [y/N] ").strip().lower() in (
        "y",
        "yes",
    )


def _tell(console: Console, plan: Plan, outcomes: list[Outcome], timeless: list[str]) -> int:
    for outcome in outcomes:
        kept = f"; the old one is in {outcome.kept_at}" if outcome.kept_at else ""
        console.print(f"{on_console(outcome.student)}: {_SAID[outcome.what]}{on_console(kept)}", soft_wrap=True)
    marked = [one.student for one in plan.students if one.late and one.student in timeless]
    if timeless:
        console.print(f"{len(timeless)} without a recorded time: they count as on time (--times FILE.csv records them)")
    if marked:
        console.print(
            f"among them late, says {plan.kind}, which does not say when: {on_console(', '.join(marked))}",
            soft_wrap=True,
        )
    amiss = any(outcome.what in ("differs", "empty", "refused") for outcome in outcomes) or bool(plan.ignored)
    return 1 if amiss else 0

"""``autograder collect ASSIGNMENT ARCHIVE``: sort Canvas's or Moodle's zip, or students' repositories."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from autograder.errors import GradingError
from autograder.plain import on_console

if TYPE_CHECKING:
    from datetime import datetime

    from autograder.collect import Outcome, Plan

_SAID = {
    "new": "written",
    "unchanged": "there already",
    "replaced": "replaced",
    "differs": "left alone: another submission is there (--force replaces it and keeps the old one)",
    "empty": "nothing that the assignment asks for",
    "refused": "left alone: submitted/ has a link in that place",
}


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("collect", help="sort submissions from an LMS into submitted/", description=__doc__)
    parser.add_argument("assignment")
    parser.add_argument("archive", type=Path, help="Canvas's or Moodle's zip, or a folder of students' clones")
    parser.add_argument("--from", dest="kind", choices=["canvas", "moodle", "github"], help="default: recognised")
    parser.add_argument("--names", type=Path, metavar="FILE.csv", help="columns id, student: whose LMS id is whose")
    parser.add_argument("--times", type=Path, metavar="FILE.csv", help="columns id, time: when each came in")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.add_argument("--force", action="store_true", help="replace submissions that differ; the old ones are kept")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.assignment import Assignment, Course
    from autograder.collect import make_plan, read_names, write_plan
    from autograder.collect.people import read_moments
    from autograder.times import record_times

    console = Console() if sys.stdout.isatty() else Console(width=140)
    assignment = Assignment.open(args.course, args.assignment)
    names = read_names(args.names) if args.names else {}
    moments = read_moments(args.times) if args.times else {}
    own = args.course / ".autograder"
    own.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="collecting-", dir=own) as aside:
        plan = make_plan(assignment, args.archive, Path(aside), args.kind, names)
        times = {
            one.student: moments[key]
            for one in plan.students
            for key in (one.student, one.person.id)
            if key in moments
        }
        _show(console, plan, times)
        if not args.yes and not _agreed():
            console.print("nothing was written")
            return 2
        outcomes = write_plan(Course(args.course), args.assignment, plan, args.force)
    written = {outcome.student for outcome in outcomes if outcome.what in ("new", "replaced", "unchanged")}
    record_times(args.course, args.assignment, {student: times[student] for student in sorted(written & set(times))})
    return _tell(console, plan, outcomes, len(written - set(times)))


def _show(console: Console, plan: Plan, times: dict[str, datetime]) -> None:
    table = Table(title=f"as {plan.kind} names them")
    for head in ("student", "id", "files", "came in"):
        table.add_column(head, overflow="fold")
    for one in plan.students:
        when = f"{times[one.student]:%Y-%m-%d %H:%M %Z}" if one.student in times else "–"
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


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise GradingError("nothing was written: look at the table and say --yes")
    return input("Write this into submitted/? [y/N] ").strip().lower() in ("y", "yes")


def _tell(console: Console, plan: Plan, outcomes: list[Outcome], without_time: int) -> int:
    for outcome in outcomes:
        kept = f"; the old one is in {outcome.kept_at}" if outcome.kept_at else ""
        console.print(f"{on_console(outcome.student)}: {_SAID[outcome.what]}{on_console(kept)}", soft_wrap=True)
    if without_time:
        console.print(f"{without_time} without a recorded time: they count as on time (--times FILE.csv records them)")
    amiss = any(outcome.what in ("differs", "empty", "refused") for outcome in outcomes) or bool(plan.ignored)
    return 1 if amiss else 0

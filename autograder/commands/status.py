"""``autograder status [ASSIGNMENT ...]``: what is released, handed in, graded, to be read, late; and what is in use."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from autograder.errors import GradingError
from autograder.model.plain_text import on_console

if TYPE_CHECKING:
    from autograder.classroom.status import AssignmentStatus
    from autograder.model.course import Course


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("status", help="where every assignment stands", description=__doc__)
    parser.add_argument("assignment", nargs="*", help="default: all")
    parser.add_argument("--json", action="store_true", help="for a program")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0; 1 where something about an assignment could not be found out: it is said."""
    from autograder.classroom.status import status_of
    from autograder.model.course import Course, unknown_assignment

    course = Course(args.course)
    known = course.assignments()
    for name in args.assignment:
        if name not in known:
            raise GradingError(unknown_assignment(course, name))
    found = [status_of(course, name) for name in args.assignment or known]
    if args.json:
        print(json.dumps({**_in_use(course), "assignments": [asdict(one) for one in found]}, indent=1))
    else:
        _show(Console() if sys.stdout.isatty() else Console(width=140), course, found)
    return 1 if any(one.problem for one in found) else 0


def _in_use(course: Course) -> dict[str, str]:
    from sqlalchemy.engine import make_url

    settings = course.settings
    return {
        "course": str(course.root),
        "settings": str(settings.config or "nbgrader's defaults"),
        "gradebook": make_url(course.db_url).render_as_string(hide_password=True),
        "submissions": str(course.submitted("<student>", "<assignment>")),
    }


def _show(console: Console, course: Course, found: list[AssignmentStatus]) -> None:
    for what, value in _in_use(course).items():
        console.print(f"{what + ':':13}{on_console(value)}", soft_wrap=True, highlight=False)
    table = Table()
    table.add_column("assignment", no_wrap=True)
    for head in ("handed in", "graded", "to grade", "changed", "to read", "late"):
        table.add_column(head, justify="right")
    table.add_column("deadline")
    for one in found:
        numbers = (one.handed_in, one.graded, one.to_grade, one.changed, one.to_read)
        late = str(one.late) if one.deadline else "–"
        deadline = one.deadline[:16].replace("T", " ") or "none"
        table.add_row(on_console(one.name), *map(str, numbers), late, deadline)
    console.print(table)
    for one in found:
        for line in _lines(one):
            console.print(f"{on_console(one.name)}: {on_console(line)}", soft_wrap=True, highlight=False)


def _lines(one: AssignmentStatus) -> list[str]:
    lines = [f"release {one.release}" if one.release == "up to date" else f"release: {one.release}"]
    lines += [f"references: {one.references}"] if one.references else []
    lines += [f"{one.without_time} without a recorded time, counted as on time"] if one.without_time else []
    due = one.to_grade + one.changed
    lines += [f"'autograder grade {one.name}' grades {due}"] if due else []
    return [*lines, *([one.problem] if one.problem else [])]

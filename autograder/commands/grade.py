"""``autograder grade ASSIGNMENT``: grade a class, with a progress bar and a table at the end."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from autograder.errors import GOES_ON, GradingError, said
from autograder.isolation import system
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.imports import imports_of
from autograder.model.course import Course
from autograder.model.plain_text import MAX_NAME, on_console

if TYPE_CHECKING:
    from autograder.classroom.run import Progress, Row

WARNING = (
    "Without isolation a submission can read references and other submissions, write files, use the network and "
    "outlive its grading. Only for submissions that you trust."
)


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("grade", help="grade a class", description=__doc__)
    parser.add_argument("assignment")
    parser.add_argument(
        "--student", action="append", default=[], metavar="ID", help="this student only; may be repeated"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="default: one per core")
    parser.add_argument("--force", action="store_true", help="grade again what is graded already")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="hand the work to this Dask scheduler, tcp://HOST:PORT")
    parser.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="for one cell; a notebook gets ten times as much"
    )
    parser.add_argument("--no-isolation", action="store_true", help="run students' code unconfined (see what it says)")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    console = Console() if sys.stdout.isatty() else Console(width=120)
    if args.workers < 1:
        raise GradingError(f"--workers must be at least 1, not {args.workers}")
    if args.time_limit is not None and args.time_limit <= 0:
        raise GradingError(f"--time-limit must be a number of seconds above 0, not {args.time_limit:g}")
    if args.no_isolation:
        console.print(f"[yellow]{WARNING}[/]")
    course = Course(args.course)
    if args.no_isolation or args.scheduler or not system.LINUX:
        return _grade(course, args, console, None)
    with closing(KernelForkServer(imports_of(course))) as warm:  # it comes up while all the rest is imported
        return _grade(course, args, console, warm)


def _grade(course: Course, args: argparse.Namespace, console: Console, warm: KernelForkServer | None) -> int:
    from autograder.classroom.run import GradingOptions, grade_class
    from autograder.references.store import PUBLIC_WARNING, References

    limits = course.file.limits
    if args.time_limit:
        limits = replace(limits, cell_seconds=args.time_limit, submission_seconds=10 * args.time_limit)
    order = GradingOptions(
        args.assignment,
        tuple(args.student),
        args.workers,
        args.force,
        args.scheduler,
        "none" if args.no_isolation else "auto",
        limits,
    )
    if References.of_course(args.course).are_public(args.assignment):
        console.print(f"[yellow]{on_console(PUBLIC_WARNING.format(assignment=args.assignment))}[/]", soft_wrap=True)
    started = time.monotonic()
    with _bar(console) as bar:
        task = bar.add_task("grading", total=None, failure="", rate="")

        def report(progress: Progress) -> None:
            seconds = time.monotonic() - started
            rate = f"{progress.done / seconds:.1f}/s" if progress.done and seconds > 1 else ""
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                failure=on_console(progress.last_failure, 60),
                rate=rate,
            )

        try:
            rows = grade_class(course, order, report, warm)
        except OSError as error:
            raise GradingError(f"{said(error)}; when that is mended, {GOES_ON}") from error
    print_table(console, rows)
    for why, number in Counter(row.again for row in rows if row.again).items():
        console.print(on_console(f"Graded again ({why}): {number} student{'s' if number > 1 else ''}"), soft_wrap=True)
    rewritten = sum(row.rewritten for row in rows)
    if rewritten:
        console.print(f"Written into the gradebook, which did not hold them: the grades of {rewritten}")
    before = sum(row.skipped for row in rows)
    if args.force and before:
        console.print(f"--force went on with a run that was interrupted: {before} of {len(rows)} were graded in it")
    failures = [row for row in rows if row.failure]
    for row in failures:
        console.print(f"[red]{on_console(row.student, MAX_NAME)}[/]: {on_console(row.failure)}", soft_wrap=True)
    return 1 if failures else 0


def _bar(console: Console) -> Bar:
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("[red]{task.fields[failure]}"),
        console=console,
    )


def print_table(console: Console, rows: list[Row]) -> None:
    """Per student and notebook the points, what failed, what waits for a human, what was put right."""
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
        total = f"{row.total:g}{more}/{sum(row.max_points.values()):g}" if row.points and not row.failure else "–"
        table.add_row(on_console(row.student, MAX_NAME), *points, total, on_console(_remarks(row)))
    console.print(table)
    if any(row.waiting for row in rows):
        console.print("+ more to come: a person has yet to read what is to be read")


def _points(row: Row, notebook: str) -> str:
    points, so_far = row.points.get(notebook), row.so_far.get(notebook)
    if points is None and so_far is not None and not row.failure:
        return f"{so_far:g}+"
    return "–" if points is None else f"{points:g}"


def _remarks(row: Row) -> str:
    if row.failure:
        return "could not be graded"
    remarks = []
    if row.missing:
        remarks.append(f"not handed in: {', '.join(name.partition('_')[0] for name in row.missing)}")
    if row.failed:
        remarks.append(", ".join(row.failed) if row.total or row.waiting else "everything")
    if row.waiting:
        remarks.append(f"to be read: {', '.join(row.waiting)}")
    if row.late:
        remarks.append(row.late)
    if row.kept_manual:
        remarks.append(f"{row.kept_manual} marks by hand kept")
    if row.notes:
        remarks.append(f"({len(row.notes)} notes)" if len(row.notes) > 1 else f"({row.notes[0]})")
    if row.skipped:
        remarks.append("graded before")
    if row.again:
        remarks.append(f"again: {row.again}")
    return "; ".join(remarks)

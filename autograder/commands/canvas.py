"""``autograder canvas pull|push ASSIGNMENT``: submissions from Canvas, grades and feedback to Canvas."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autograder.commands._options import AssignmentName, open_course
from autograder.commands._output import Output, warn_of_standing

if TYPE_CHECKING:
    from autograder.lms.transfer import CanvasChanges
    from autograder.model.course import Course

EXAMPLE = "autograder canvas push distilbert --yes"


def run(
    context: typer.Context,
    direction: Annotated[
        Literal["pull", "push"],
        typer.Argument(metavar="pull|push", help="Submissions from Canvas; or grades and feedback pages to Canvas."),
    ],
    assignment: AssignmentName,
    names: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="With pull: columns id, student: whose number is whose.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write; without it, only what would be written is shown.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With pull: replace submissions that differ; the old ones are kept.")
    ] = False,
) -> int:
    """Bring submissions from Canvas with their times, or send grades and feedback pages there.

    Where the assignment lies in Canvas is in course.toml; the token in the variable CANVAS_API_TOKEN.

    Exit codes: 0 done; 1 students were left out, and are listed; 2 nothing was written.
    """
    from autograder.errors import GradingError

    course, output = open_course(context), Output(context)
    if direction == "pull":
        return _pull(course, output, assignment, names, yes=yes, force=force)
    if names or force:
        raise GradingError("--names and --force go with 'canvas pull'")
    return _push(course, output, assignment, yes=yes)


def _pull(course: Course, output: Output, assignment: str, names: Path | None, *, yes: bool, force: bool) -> int:
    from autograder.collect import read_names
    from autograder.commands._collecting import collect
    from autograder.lms.api import open_assignment
    from autograder.lms.transfer import fetch

    people = read_names(names) if names else {}
    with tempfile.TemporaryDirectory(prefix="canvas-") as temporary:
        archive = Path(temporary) / "submissions.zip"
        times = fetch(open_assignment(course.file.canvas, assignment), archive)
        return collect(course, output, assignment, archive, "canvas", people, times, yes=yes, force=force)


def _push(course: Course, output: Output, assignment: str, *, yes: bool) -> int:
    from autograder.collect.origins import read_origins
    from autograder.errors import GradingError
    from autograder.feedback import write_feedback
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties
    from autograder.lms.api import open_assignment
    from autograder.lms.pages import pages_of
    from autograder.lms.transfer import changes

    there = open_assignment(course.file.canvas, assignment)
    table = gather(course, assignment)
    store_penalties(course, table)
    ready = [row for row in table.rows if row.verdict is not None and row.score is not None]
    pages = pages_of({row.student.id: write_feedback(course, assignment, row.student.id, row) for row in ready})
    planned = changes(table, pages, read_origins(course.root, assignment), there)
    _show(output, assignment, planned)
    warn_of_standing(output, course, assignment)
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
    return 1 if failed or planned.left_out else 0


def _show(output: Output, assignment: str, planned: CanvasChanges) -> None:
    from rich.table import Table

    from autograder.model.plain_text import on_console

    table = Table(title=f"{assignment} in Canvas")
    for head in ("student", "id", "score there", "score", "new pages"):
        table.add_column(head, overflow="fold")
    for one in planned.students:
        before = "–" if one.before is None else f"{one.before:g}"
        after = "the same" if one.score is None else f"{one.score:g}"
        table.add_row(*map(on_console, (one.student, one.user, before, after, ", ".join(one.files) or "–")))
    output.console.print(table)
    for student, reason in planned.left_out.items():
        output.problems.print(f"left out: {on_console(student)}: {on_console(reason)}", soft_wrap=True)

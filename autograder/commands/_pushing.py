"""How ``autograder export --to canvas --push`` goes: show what Canvas would get, and send it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.commands._output import Output, warn_of_standing

if TYPE_CHECKING:
    from autograder.lms.transfer import CanvasChanges
    from autograder.model.course import Course


def push(course: Course, output: Output, assignment: str, *, yes: bool) -> int:
    """Send grades and feedback pages to Canvas; returns the exit code."""
    from autograder.errors import GradingError
    from autograder.feedback import write_feedback
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties
    from autograder.gradebook.roster import roster_of
    from autograder.lms.api import open_assignment
    from autograder.lms.pages import pages_of
    from autograder.lms.transfer import changes

    there = open_assignment(course.file.canvas, assignment)
    table = gather(course, assignment)
    store_penalties(course, table)
    ready = [row for row in table.rows if row.verdict is not None and row.score is not None]
    pages = pages_of({row.student.id: write_feedback(course, assignment, row.student.id, row) for row in ready})
    students = {row.student.id: row.student for row in table.rows}
    numbers = roster_of(course.root, students, "canvas", assignment).number_of
    planned = changes(table, pages, numbers, there)
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

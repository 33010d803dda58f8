"""``autograder status [ASSIGNMENT ...]``: what is released, handed in, graded, to be read, late; and what is in use."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from autograder.commands._options import AsJson, AssignmentNames, open_course
from autograder.commands._output import Output
from autograder.model.plain_text import on_console

if TYPE_CHECKING:
    from autograder.classroom.status import AssignmentStatus
    from autograder.model.course import Course


EXAMPLE = "autograder status --json"


def run(context: typer.Context, assignment: AssignmentNames = None, as_json: AsJson = False) -> int:
    """Show what is released, handed in, graded, to be read, late.

    It also shows which gradebook, settings and folders are in use.

    Exit code 1 where something about an assignment could not be found out: it is said.
    """
    from autograder.classroom.status import status_of
    from autograder.model.course import assignments_named

    course, output = open_course(context), Output(context, as_json=as_json)
    found = [status_of(course, name) for name in assignments_named(course, assignment)]
    output.document({**_in_use(course), "assignments": [asdict(one) for one in found]})
    if not as_json:
        _show(output, course, found)
    return 1 if any(one.problem for one in found) else 0


def _in_use(course: "Course") -> dict[str, str]:
    from sqlalchemy.engine import make_url

    settings = course.settings
    return {
        "course": str(course.root),
        "settings": str(settings.config or "nbgrader's defaults"),
        "gradebook": make_url(course.db_url).render_as_string(hide_password=True),
        "submissions": str(course.submitted("<student>", "<assignment>")),
    }


def _show(output: Output, course: "Course", found: "list[AssignmentStatus]") -> None:
    console = output.console
    for what, value in _in_use(course).items():
        console.print(f"{what + ':':13}{on_console(value)}", soft_wrap=True, highlight=False)
    numbered = (f">{head}" for head in ("handed in", "graded", "to grade", "changed", "to read", "late"))
    table = output.table("assignment", *numbered, "deadline")
    for one in found:
        numbers: tuple[object, ...] = (one.graded, one.to_grade, one.changed, one.to_read)
        unknown = "?" if one.problem else ""  # why is said below the table
        late = one.late if one.deadline else unknown or "–"
        numbers = (*numbers, late, one.deadline[:16].replace("T", " ") or unknown or "none")
        table.add_row(on_console(one.name), str(one.handed_in), *("?" if one is None else str(one) for one in numbers))
    console.print(table)
    for one in found:
        for line in _lines(one):
            (output.problems if line == one.problem else console).print(
                f"{on_console(one.name)}: {on_console(line)}", soft_wrap=True, highlight=False
            )


def _lines(one: "AssignmentStatus") -> list[str]:
    lines = [f"release {one.release}" if one.release == "up to date" else f"release: {one.release}"]
    lines += [f"references: {one.references}"] if one.references else []
    lines += one.remarks
    lines += [f"runs kept to be judged again: {one.kept_bytes / 1e6:.1f} MB"] if one.kept_bytes else []
    due = (one.to_grade or 0) + (one.changed or 0)
    lines += [f"'autograder grade {one.name}' grades {due}"] if due else []
    return [*lines, *([one.problem] if one.problem else [])]

"""``autograder report ASSIGNMENT``: the class at a glance, one page and its pictures."""

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands._options import AssignmentName, open_course
from autograder.commands._output import Output, warn_of_standing
from autograder.errors import NothingToGrade

EXAMPLE = "autograder report distilbert"


def run(
    context: typer.Context,
    assignment: AssignmentName,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to write (default: reports/ASSIGNMENT[-anonymous]).")
    ] = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Show pseudonyms in place of students' ids.")] = False,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="ARCHIVE",
            help="Look for similar code in an earlier term, too: its archive, or its folder. May be repeated.",
        ),
    ] = None,
) -> int:
    """Write the class at a glance: one page and its pictures."""
    from autograder.report import write_report

    course = open_course(context)
    if not course.everybody_autograded(assignment):
        raise NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")
    folder = out or course.root / "reports" / f"{assignment}{'-anonymous' * anonymous}"
    page = write_report(course, assignment, folder, anonymous=anonymous, against=against or ())
    output = Output(context)
    warn_of_standing(output, course, assignment)
    output.say(str(page))
    return 0

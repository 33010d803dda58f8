"""``autograder collect ASSIGNMENT [ARCHIVE]``: sort what Canvas, Moodle, GitHub or nbgrader's exchange hands out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.commands._options import AsJson, AssignmentName, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

EXAMPLE = "autograder collect distilbert submissions.zip --names students.csv"


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
    from autograder.collect import read_moments, read_names
    from autograder.commands._collecting import collect
    from autograder.gradebook.late.file import read_zone

    course, output = open_course(context), Output(context, as_json=as_json)
    if (archive is None) != (kind == "exchange"):
        raise GradingError("give a zip or a folder of clones; without one, --from exchange collects from nbgrader's")
    people = read_names(names) if names else {}
    moments = read_moments(times, read_zone(course.root)) if times else {}
    return collect(course, output, assignment, archive, kind, people, moments, yes=yes, force=force)

"""``autograder collect ASSIGNMENT [ARCHIVE]``: sort what Canvas, Moodle, GitHub or nbgrader's exchange hands out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autograder.commands._options import AsJson, AssignmentName, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.collect import Moments
    from autograder.collect.plan import Source
    from autograder.model.course import Course

EXAMPLE = "autograder collect distilbert submissions.zip --names students.csv"


def run(
    context: typer.Context,
    assignment: AssignmentName,
    archive: Annotated[
        Path | None,
        typer.Argument(
            metavar="ARCHIVE",
            help="Canvas's or Moodle's zip, or a folder of clones; none with --from exchange, or with --from canvas "
            "where course.toml says where the assignment lies in Canvas.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        Literal["canvas", "moodle", "github", "exchange"] | None, typer.Option("--from", help="Default: recognised.")
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Whose LMS number is whose: Moodle's grading worksheet or Canvas's export of the gradebook as it is, "
            "or columns id, student. Kept in the roster.",
        ),
    ] = None,
    times: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="When each came in: Moodle's grading worksheet as it is, or columns id, time.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace submissions that differ; the old ones are kept.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Sort what Canvas, Moodle, GitHub or nbgrader's exchange hands out into submitted/.

    Exit codes: 0 all of it lies in its place; 1 something was left alone, left out or ignored, and is listed;
    2 nothing was written.
    """
    from autograder.collect import read_names
    from autograder.commands._collecting import collect

    course, output = open_course(context), Output(context, as_json=as_json)
    listed = read_names(names) if names else None
    moments = _moments(course, output, names, times)
    source: Source
    if archive is not None and kind != "exchange":
        source = archive
    elif kind == "exchange" and archive is None:
        source = course
    elif kind == "canvas":
        from autograder.lms.transfer import open_assignment, sent

        source = sent(open_assignment(course.file.canvas, assignment))
    else:
        raise GradingError("give a zip or a folder of clones; or none, and --from exchange or --from canvas")
    return collect(course, output, assignment, source, kind, listed, moments, yes=yes, force=force)


def _moments(course: "Course", output: Output, names: Path | None, times: Path | None) -> "Moments":
    """When each came in, as the list of times says, or else the list of names: Moodle's worksheet is both."""
    from autograder.collect import Moments, has_times, read_moments
    from autograder.gradebook.late.file import read_zone

    if times:
        return read_moments(times, read_zone(course.root))
    if names and has_times(names):
        try:
            found = read_moments(names, read_zone(course.root))
            return found if found.by_number or found.by_student else Moments()
        except GradingError as error:
            output.warn(f"the times in {names} were not kept: {error}")
    return Moments()

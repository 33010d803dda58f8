"""``autograder publish FOLDER [ASSIGNMENT ...]``: the students' repository, checked before it is written."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands._options import AssignmentNames, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.model.course import Course
    from autograder.publish.publish import Published

EXAMPLE = "autograder publish ../students distilbert"


def run(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New, empty, or published before.")],
    assignment: AssignmentNames = None,
    approve_pictures: Annotated[
        bool, typer.Option("--approve-pictures", help="You looked at every picture, and none shows an answer.")
    ] = False,
    until: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="What is due until then, by [dates] in course.toml (default: now)."),
    ] = None,
    note: Annotated[
        str, typer.Option(metavar="TEXT", help="What was corrected: for the top of the notebooks and the changelog.")
    ] = "",
    site: Annotated[
        bool, typer.Option("--site", help="With a site of the course, and the workflow that puts it on GitHub Pages.")
    ] = False,
    solutions: Annotated[
        str,
        typer.Option(metavar="ASSIGNMENT", help="Only add the solutions of one assignment, after the last deadline."),
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Add solutions although somebody may still hand in.")] = False,
) -> int:
    """Write the students' repository, searched for leaks as a whole.

    Assignments that were published before stay.
    """
    from autograder.commands._options import day
    from autograder.publish.publish import publish

    course = open_course(context)
    if solutions:
        return _solutions(Output(context), course, folder.resolve(), solutions.rstrip("/"), yes)
    moment, names = day(until) if until is not None else None, assignment or ()
    done = publish(
        course.root, folder.resolve(), names, approve_pictures=approve_pictures, until=moment, note=note, site=site
    )
    _tell(Output(context), folder, done)
    if done.repository != course.file.placeholder:
        return 0
    Output(context).warn(
        "autograder: the repository is still the placeholder: set 'repository' in course.toml, run 'autograder "
        "release' and publish again, or badges and setup cells lead nowhere"
    )
    return 1


def _tell(output: Output, folder: Path, done: "Published") -> None:
    from autograder.publish.publish import SITE_FRONT

    output.say(f"{folder}: {len(done.files)} files for https://github.com/{done.repository}; nothing leaks")
    if done.site_bytes:
        figures = sum(name.startswith("site/_images/") for name in done.files)
        output.say(f"  site: {folder / SITE_FRONT}, {done.site_bytes / 1e6:.1f} MB, {figures} pictures: look at them")
    for picture in done.pictures:
        output.say(f"  picture, accepted: {picture.where}")
    for name in done.kept:
        output.say(f"  published earlier, left as it was: {name}")
    for one in done.corrections:
        output.say(f"  corrected: {one.notebook} ({', '.join(one.cells)})")
    for name, date in done.due.later if done.due else ():
        output.say(f"  later: {name}, on {date:%Y-%m-%d %H:%M %Z}")
    for name in done.due.undated if done.due else ():
        output.say(f"  without a date in course.toml, not published: {name}")
    for name in done.removed:
        output.say(f"  removed: {name}")


def _solutions(output: Output, course: "Course", folder: Path, assignment: str, yes: bool) -> int:
    from autograder.release.solved_run import write_solutions

    if not yes:
        _require_over(course, assignment)
    files, shown = write_solutions(course, folder, assignment)
    for name in files:
        output.say(f"  {name}")
    if not shown:
        output.say(f"  Without outputs: 'autograder release {assignment}' notes them when it runs the solution.")
    output.say("  Whoever takes the course later can read them: draw new references, and change what has one answer.")
    return 0


def _require_over(course: "Course", assignment: str) -> None:
    """Raises GradingError while somebody can still hand in for points."""
    from autograder.gradebook.late.file import read_policy
    from autograder.gradebook.late.policy import LatePolicy, last_moment

    last = last_moment(read_policy(course.root, course.assignments()) or LatePolicy(), assignment)
    if last is None:
        raise GradingError(
            f"{assignment}: late_policy.toml has no moment after which nobody can hand in for points (a hard_deadline, "
            "or a per_day in percent); --yes publishes the solutions all the same"
        )
    if last > datetime.now(UTC):
        raise GradingError(
            f"{assignment}: with extensions and late days, students can hand in until {last:%Y-%m-%d %H:%M %Z}; "
            "--yes publishes the solutions all the same"
        )

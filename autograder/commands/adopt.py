"""``autograder adopt``: an existing nbgrader course, whose own commands then grade as the autograder command does."""

from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands._options import is_outside, open_course, started_in
from autograder.commands._output import Output
from autograder.errors import GradingError, NeverReleased

if TYPE_CHECKING:
    from autograder.model.course import Course

EXAMPLE = "autograder adopt --yes"


def run(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
) -> int:
    """Add our plug-ins to an existing nbgrader course.

    The change is shown first, and nothing else is touched.

    'autograder grade' needs none of it: it grades any nbgrader course as it is.
    """
    from autograder.authoring.course_folder import add, additions

    course, output = open_course(context), Output(context)
    if is_outside(context, course):
        raise GradingError(
            f"nothing was changed: c.CourseDirectory.root is {course.root}, which is not {started_in(context)}. In a "
            "copy write c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__)) into its "
            f"nbgrader_config.py; else run 'autograder --course-dir {course.root} adopt'"
        )
    found = additions(course)
    if not found:
        output.say(f"{course.root}: nothing to add; nbgrader's commands grade as 'autograder grade' does")
        return 0
    for one in found:
        output.say(one.diff(course.root).rstrip("\n"))
    if not yes and not typer.confirm("Write this?"):
        output.say("Nothing was changed.")
        return 0
    add(found)
    for one in found:
        output.say(f"written: {one.path}")
    _calibrate(open_course(context), output)
    return 0


def _calibrate(course: "Course", output: Output) -> None:
    """Find out where the plain tests of every released assignment are judged, and say it."""
    from autograder.assignment.assignment import Assignment
    from autograder.plain.where import summary
    from autograder.release.calibrate import calibrated_in

    unreleased = []
    for name in course.assignments():
        try:
            for line in summary(calibrated_in(course, Assignment.open(course, name), course.file.limits)):
                output.say(line)
        except NeverReleased:
            unreleased.append(name)
        except GradingError as error:
            output.say(f"{name}: {error}")
    if unreleased:
        output.say(f"never released, so not looked at: {', '.join(unreleased)}; 'autograder release' does both")

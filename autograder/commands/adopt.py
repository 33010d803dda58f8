"""``autograder adopt``: an existing nbgrader course, whose own commands then grade as the autograder command does."""

from __future__ import annotations

from typing import Annotated

import typer

from autograder.commands._options import open_course
from autograder.commands._output import Output

EXAMPLE = "autograder adopt --yes"


def run(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
) -> int:
    """Add our plug-ins to an existing nbgrader course.

    The change is shown first, and nothing else is touched.

    'autograder grade' needs none of it: it grades any nbgrader course as it is.
    """
    from autograder.authoring.adopt import add, additions

    course, output = open_course(context), Output(context)
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
    return 0

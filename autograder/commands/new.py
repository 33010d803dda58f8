"""``autograder new ASSIGNMENT[/NOTEBOOK][/EXERCISE]``: the stubs of an exercise."""

from typing import Annotated

import typer

from autograder.commands._options import open_course
from autograder.commands._output import Output

EXAMPLE = "autograder new signals/moving_average"


def run(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="ASSIGNMENT[/NOTEBOOK][/EXERCISE]",
            help="Two parts are assignment and exercise; a second part that begins with a digit is a notebook. "
            "What is left out is named after what is there.",
            show_default=False,
        ),
    ],
) -> int:
    """Write the stubs of a new exercise.

    They are three cells and one file, and what the visible check needs where the course has such; they say what goes
    where. Assignment and notebook are made where they do not exist. Nothing that exists is overwritten: a notebook gets
    the new cells after its last graded one, in front of its closing text. Until every stub is filled in, check and
    release name them and stop.
    """
    from autograder.authoring.course_folder import write_stubs
    from autograder.authoring.notebook_cells import read_name

    course, output = open_course(context), Output(context)
    new = read_name(name, course)
    output.say(f"{new.slug}: fill in every STUB in")
    written = write_stubs(course, new)
    for path in (path for path in written if "STUB" in path.read_text(encoding="utf-8")):
        output.say(f"  {path.relative_to(course.root) if path.is_relative_to(course.root) else path}")
    output.say(
        f"Then 'autograder references {new.assignment}' draws the hidden inputs, and "
        f"'autograder check {new.assignment}' tries the exercise."
    )
    return 0

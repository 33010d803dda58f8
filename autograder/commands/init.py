"""``autograder init FOLDER``: a course that works, with one small exercise in it."""

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands._output import Output

EXAMPLE = "autograder init physics"


def run(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or an empty folder.", show_default=False)],
) -> int:
    """Make a course with one small assignment and a workflow for CI."""
    from autograder.authoring.course_folder import EXAMPLE as ASSIGNMENT
    from autograder.authoring.course_folder import make_course

    output = Output(context)
    written = make_course(folder)
    output.say(f"{folder} is a course. Look at:")
    for path in written:
        output.say(f"  {path}")
    output.say(
        f"Then, in {folder}: 'autograder check' tries every exercise, 'autograder release {ASSIGNMENT}' makes the "
        "students' notebooks, 'autograder new' writes the stubs of one more exercise."
    )
    return 0

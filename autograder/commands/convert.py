"""``autograder convert otter NOTEBOOK``: a notebook of another autograder as a source notebook of this course."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.commands._options import open_course
from autograder.commands._output import Output

EXAMPLE = "autograder convert otter hw01.ipynb --assignment hw01"


def run(
    context: typer.Context,
    kind: Annotated[Literal["otter"], typer.Argument(metavar="otter", help="What 'otter assign' takes.")],
    notebook: Annotated[list[Path], typer.Argument(metavar="NOTEBOOK", help="A master notebook.", show_default=False)],
    assignment: Annotated[
        str | None,
        typer.Option(metavar="ASSIGNMENT", help="Its folder in source/. Default: the name that the notebook has."),
    ] = None,
) -> int:
    """Make a source notebook of one that was written for otter-grader.

    Questions become answer cells and graded cells, one for each test. Nothing that exists is overwritten. What cannot
    be carried over is said, in one line each.
    """
    from autograder.convert.otter import convert_into

    course, output = open_course(context), Output(context)
    names = []
    for one in notebook:
        done = convert_into(course, one, assignment)
        names.append(done.path.parent.name)
        output.say(f"{done.path}: {done.converted.questions} questions, {done.converted.points:g} points")
        for copied in done.copied:
            output.say(f"  copied: {copied}")
        for note in done.notes:
            output.say(f"  note: {note}")
    names = list(dict.fromkeys(names))
    output.say(f"Then 'autograder release {' '.join(names)}' tries the solution and the untouched notebook.")
    return 0

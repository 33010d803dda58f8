"""``autograder student erase ID``: remove a person from everything that the course keeps."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from autograder.commands._options import open_course
from autograder.commands._output import Output
from autograder.model.plain_text import one_line

EXAMPLE = "autograder student erase ada --yes"


def run(
    context: typer.Context,
    action: Annotated[Literal["erase"], typer.Argument(metavar="erase", help="What to do.", show_default=False)],
    student: Annotated[str, typer.Argument(metavar="ID", help="The student's id.", show_default=False)],
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it; without this, only say what would be removed.")
    ] = False,
) -> int:
    """Remove a student from everything that the course keeps.

    That is every file, the gradebook and the exchange. Says what is removed. Nothing brings it back: without
    --yes nothing is changed.

    Exit code 1 where something still names the student: it is listed, to be changed by hand.
    """
    from autograder.privacy import erase

    done = erase(open_course(context), student, write=yes)
    output = Output(context)
    for word, lines in (("removed", done.removed), ("changed", done.changed)):
        for line in lines:
            output.say(f"{word if yes else f'to be {word}'}: {one_line(line)}")
    for line in done.left:
        output.problem(f"left: {one_line(line)}")
    if not yes:
        output.say("Nothing has been changed: the same command with --yes removes it.")
    return 1 if done.left else 0

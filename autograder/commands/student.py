"""``autograder student import FILE``, ``autograder student erase ID``: who is in the class, and who is no more."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.commands._options import open_course
from autograder.commands._output import Output, counted
from autograder.errors import GradingError
from autograder.model.plain_text import one_line

EXAMPLE = "autograder student import class.csv"


def run(
    context: typer.Context,
    action: Annotated[
        Literal["import", "erase"], typer.Argument(metavar="import|erase", help="What to do.", show_default=False)
    ],
    who: Annotated[
        str,
        typer.Argument(
            metavar="FILE.csv|ID",
            help="The class: columns id, first_name, last_name, email; or the student's id.",
            show_default=False,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Erase; without this, only say what would be removed.")] = False,
) -> int:
    """Enter a class into the roster, or remove a student from everything that the course keeps.

    The class's list is read as every other list: commas, semicolons or tabs, any of Excel's encodings, or the LMS's own
    table. What the roster says already stays.

    To erase is to remove every file, the rows of the gradebook and what lies in the exchange. Says what is removed.
    Nothing brings it back: without --yes nothing is changed.

    Exit code 1 where something still names the student: it is listed, to be changed by hand.
    """
    return _import(context, Path(who)) if action == "import" else _erase(context, who, yes)


def _import(context: typer.Context, path: Path) -> int:
    from autograder.collect import read_class
    from autograder.gradebook.roster import enter_students

    students = read_class(path)
    if not students:
        raise GradingError(f"{path} names nobody")
    enter_students(open_course(context), students)
    Output(context).say(f"entered {counted(len(students))}: {one_line(', '.join(one.id for one in students))}")
    return 0


def _erase(context: typer.Context, student: str, yes: bool) -> int:
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

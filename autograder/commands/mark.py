"""``autograder mark ASSIGNMENT``: a local page on which people mark written answers, like answers together."""

from typing import Annotated

import typer

from autograder.commands._options import AssignmentName, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

EXAMPLE = "autograder mark distilbert --graders lin,sam"


def run(
    context: typer.Context,
    assignment: AssignmentName,
    graders: Annotated[
        str, typer.Option(metavar="A,B", help="One address for each (default: you).", show_default=False)
    ] = "",
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Show pseudonyms in place of students' names.")
    ] = False,
    words: Annotated[
        bool, typer.Option("--words", help="Compare answers by their words, not by the course's encoder.")
    ] = False,
    double: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=100, help="So many percent of the answers are marked by two people."),
    ] = 0,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Listen there (default: any free).")] = 0,
) -> int:
    """Mark written answers question by question, like answers together, in a browser.

    The page is on this machine alone, and its address is secret: whoever has it can mark. Every mark is in the
    gradebook at once, as if it came from the formgrader. Stop with Ctrl-C.
    """
    import asyncio

    from autograder.marking.desk import Desk, Marker
    from autograder.marking.server import address_of, listen, serve

    names = [name.strip() for name in graders.split(",") if name.strip()] or [_own_name()]
    if len(set(names)) != len(names):
        raise GradingError(f"--graders: expected every name once, got {graders!r}")
    output = Output(context)
    desk = Desk(open_course(context), assignment, anonymous, words, double)
    markers, sockets = [Marker(name) for name in names], listen(port)
    for marker in markers:
        output.console.print(f"{marker.name}: {address_of(sockets, marker)}", soft_wrap=True, markup=False)
    if double and len(names) == 1:
        output.say(f"{names[0]} gives one of the two marks; somebody with another name gives the other: --graders A,B.")
    output.say("Whoever has an address marks under that name. Stop with Ctrl-C.")
    try:
        asyncio.run(serve(desk, markers, sockets))
    except KeyboardInterrupt:
        output.say(f"{sum(marker.stored for marker in markers)} marks stored.")
    return 0


def _own_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container, say
        return "grader"

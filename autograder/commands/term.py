"""``autograder term new NAME`` and ``autograder term archive``: the end of a term."""

from typing import Annotated, Literal

import typer

from autograder.commands._options import open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

EXAMPLE = "autograder term archive --pseudonymise"
Action = Annotated[
    Literal["new", "archive"], typer.Argument(metavar="new|archive", help="What to do.", show_default=False)
]


def run(
    context: typer.Context,
    action: Action,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The new term's name.", show_default=False)] = None,
    pseudonymise: Annotated[
        bool, typer.Option("--pseudonymise", help="Write pseudonyms in place of ids, without names and comments.")
    ] = False,
) -> int:
    """Archive a term's results and answers, or begin a new one.

    archive: write archives/TERM.zip, TERM being the term in course.toml.

    new NAME: move everything about the present term's students into terms/TERM/, and begin empty. What moved is listed,
    and so is what of the old term still counts.
    """
    from autograder.terms.archive import begin_term, check_name, write_archive

    course, output = open_course(context), Output(context)
    if action == "archive":
        if name is not None:
            raise GradingError(f"term archive takes no name: it archives the term in course.toml; got {name!r}")
        if not course.file.term:
            raise GradingError('the present term has no name: write term = "..." at the top of course.toml first')
        check_name(course.file.term)
        archive = write_archive(course, course.file.term, pseudonymise)
        for assignment, students in archive.assignments.items():
            output.say(f"{assignment}: {students} students")
        output.say(str(archive.path))
        return 0
    if name is None or pseudonymise:
        raise GradingError("expected 'autograder term new NAME', without --pseudonymise; archive the old term first")
    begun = begin_term(course, name)
    if begun.folder is None:
        output.say("The old term had no files: nothing was moved")
    else:
        output.say(f"moved into {begun.folder}: {', '.join(begun.moved)}")
    for line in begun.to_do:
        output.say(f"to do: {line}")
    return 0

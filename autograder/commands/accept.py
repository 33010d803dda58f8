"""``autograder accept STUDENT ASSIGNMENT EXERCISE``: give the points of a test that waits for a word."""

from contextlib import nullcontext
from typing import Annotated

import typer

from autograder.commands._options import AssignmentName, ExerciseName, StudentName, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError
from autograder.model.plain_text import one_line

EXAMPLE = 'autograder accept grace ps1 squares --reason "a list of her own class, and right"'


def run(
    context: typer.Context,
    student: StudentName,
    assignment: AssignmentName,
    exercise: ExerciseName,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept.", show_default=False)] = "",
) -> int:
    """Accept an answer for which a plain test holds with other values than the solution's, and keep the reason.

    'autograder grade', 'status' and 'report' list such answers, 'autograder explain' shows the difference, and
    'autograder mark' takes all that are alike at once. The points become a manual grade, which waits for a person
    again where the student hands in another answer.
    """
    from autograder.gradebook.gather import gather_from
    from autograder.gradebook.marks import accept, offered
    from autograder.gradebook.read import open_book

    if not reason.strip():
        raise GradingError('--reason is missing: say why in a few words, such as --reason "right, in an odd style"')
    course, output = open_course(context), Output(context)
    with open_book(course.db_url) or nullcontext() as book:
        found = offered(gather_from(course, assignment, book).rows)
    mine = [one for one in found if one.student == student]
    chosen = [one for one in mine if exercise in (one.cell, f"{one.notebook}/{one.cell}")]
    if len(chosen) != 1:
        known = ", ".join(f"{one.notebook}/{one.cell}" for one in mine) or "nothing"
        raise GradingError(f"of {student} there is {known} to accept in {assignment}, got {exercise!r}")
    path = accept(course.root, course.db_url, assignment, chosen[0], one_line(reason.strip()))
    output.say(one_line(f"{student}, {chosen[0].notebook}/{chosen[0].cell}: {chosen[0].points:g} points"))
    output.say(str(path))
    return 0

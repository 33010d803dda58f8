"""``autograder feedback ASSIGNMENT``: a page per notebook that a student can read."""

from __future__ import annotations

import typer

from autograder.commands._options import AssignmentName, Students, open_course
from autograder.commands._output import Output
from autograder.errors import NothingToGrade

EXAMPLE = "autograder feedback distilbert --student ada"


def run(context: typer.Context, assignment: AssignmentName, student: Students = None) -> int:
    """Write the students' feedback pages, one a notebook."""
    from autograder.feedback import write_feedback
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties

    course = open_course(context)
    graded = filter(course.takes, course.everybody_autograded(assignment))
    wanted = [name for name in graded if not student or name in student]
    if not wanted:
        raise NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")
    table = gather(course, assignment)
    store_penalties(course, table)
    results = {row.student.id: row for row in table.rows}
    pages = [page for name in wanted for page in write_feedback(course, assignment, name, results[name])]
    Output(context).say(f"{len(pages)} pages for {len(wanted)} students in {course.every_feedback}")
    return 0

"""``autograder feedback ASSIGNMENT``: a page per notebook that a student can read."""

from __future__ import annotations

import argparse

from autograder.errors import NothingToGrade


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("feedback", help="write the students' feedback pages", description=__doc__)
    parser.add_argument("assignment")
    parser.add_argument(
        "--student", action="append", default=[], metavar="ID", help="this student only; may be repeated"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.feedback import write_feedback
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties
    from autograder.model.course import Course

    course = Course(args.course)
    graded = filter(course.takes, course.everybody_autograded(args.assignment))
    wanted = [student for student in graded if not args.student or student in args.student]
    if not wanted:
        raise NothingToGrade(
            f"nothing is graded for {args.assignment!r}: run 'autograder grade {args.assignment}' first"
        )
    table = gather(course, args.assignment)
    store_penalties(course, table)
    results = {row.student.id: row for row in table.rows}
    pages = [page for student in wanted for page in write_feedback(course, args.assignment, student, results[student])]
    print(f"{len(pages)} pages for {len(wanted)} students in {course.every_feedback}")
    return 0

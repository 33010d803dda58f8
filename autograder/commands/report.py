"""``autograder report ASSIGNMENT``: the class at a glance, one page and its pictures."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.errors import NothingToGrade


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("report", help="write the class report", description=__doc__)
    parser.add_argument("assignment")
    parser.add_argument("--out", type=Path, help="folder to write to (default: reports/ASSIGNMENT)")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.model.course import Course
    from autograder.report import write_report

    course = Course(args.course)
    if not course.everybody_autograded(args.assignment):
        raise NothingToGrade(
            f"nothing is graded for {args.assignment!r}: run 'autograder grade {args.assignment}' first"
        )
    print(write_report(course, args.assignment, args.out or course.root / "reports" / args.assignment))
    return 0

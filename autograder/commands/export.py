"""``autograder export ASSIGNMENT --to FORMAT``: the class's grades, for an LMS, a spreadsheet or a program.

What is not graded yet is an empty cell, never a 0. Who and what waits is said on stderr.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.model.course import Course
from autograder.model.plain_text import one_line

TO = ("canvas", "moodle", "csv", "json", "gradescope")


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("export", help="write the grades for Canvas, Moodle, ...", description=__doc__)
    parser.add_argument("assignment")
    parser.add_argument("--to", required=True, choices=TO, help="the format")
    parser.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: in exports/)")
    parser.add_argument(
        "--columns", type=Path, metavar="FILE", help="Canvas's or Moodle's own table, whose columns are to be filled in"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """0; 1 where students are missing in the table given with ``--columns``: they are listed."""
    from autograder.exports import default_path, make
    from autograder.exports.remarks import named, remarks
    from autograder.files.atomic import write_file
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties

    course = Course(args.course)
    table = gather(course, args.assignment)
    made = make(table, args.to, args.columns)
    store_penalties(course, table)  # feedback and nbgrader's own pages say the same
    path = args.out or default_path(course.root, args.assignment, args.to)
    write_file(path, made.data)
    left_out = [f"left out, not in {args.columns}: {named(made.left_out)}"] if made.left_out else []
    for line in [*remarks(table), *made.notes, *left_out]:
        print(f"autograder: {one_line(line)}", file=sys.stderr)
    print(path)
    return 1 if made.left_out else 0

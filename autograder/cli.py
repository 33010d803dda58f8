"""The ``autograder`` command. It knows words, progress and exit codes, and nothing of how anything is done.

Exit codes: 0 done; 1 done, but some submissions failed (they are listed); 2 nothing could be done.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from autograder.commands import (
    bundle,
    ci,
    collect,
    doctor,
    export,
    feedback,
    grade,
    publish,
    references,
    release,
    report,
    status,
)
from autograder.errors import GradingError
from autograder.files.private import keep_out_of_git
from autograder.isolation import IsolationUnavailable
from autograder.model.plain_text import MAX_TEXT, one_line

#: These do their work without a course.
ANYWHERE = ("doctor",)
COMMANDS = (collect, grade, ci, bundle, feedback, report, export, references, release, publish, status, doctor)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="autograder",
        description="Grade the notebooks of a course: rebuilt, run confined, "
        "judged outside the process that ran the student's code.",
    )
    made.add_argument("--course", type=Path, default=Path.cwd(), help="the course's folder (default: here or above)")
    words = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(words)
    return made


def main(argv: list[str] | None = None) -> int:
    """Run one command. What the teacher can mend is said in one line, without a traceback, with exit code 2."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread per kernel: many kernels, few cores
    # nbgrader calls alembic by name, also where nobody activated the environment
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ.get("PATH", "")
    args = parser().parse_args(argv)
    try:
        if first := getattr(args, "first", None):
            first(args)
        if args.command not in ANYWHERE:
            from autograder.model.settings import find_course, read_settings  # nbgrader takes its time

            args.course = find_course(args.course, getattr(args, "submission", None))
            if read_settings(args.course).groupshared:
                os.umask(0o007)  # every instructor of the group may go on with what another one began
        args.assignment = _names(getattr(args, "assignment", None))
        try:
            return int(args.func(args))
        finally:
            if args.command not in ANYWHERE:
                keep_out_of_git(args.course)
    except (GradingError, IsolationUnavailable) as error:
        print(f"autograder: {one_line(str(error), MAX_TEXT)}", file=sys.stderr)
        return 2
    except Exception as error:
        said = _of_gradebook(error)
        if not said:
            raise
        print(f"autograder: {one_line(said, MAX_TEXT)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("autograder: stopped; the same command goes on where this one stopped", file=sys.stderr)
        return 130


def _of_gradebook(error: Exception) -> str:
    """One line on a gradebook that cannot be read or written; empty for every other failure."""
    failures = getattr(sys.modules.get("sqlalchemy.exc"), "OperationalError", ())
    if not isinstance(error, failures):
        return ""
    return f"the gradebook cannot be used: {getattr(error, 'orig', error)}; close whatever holds it and start again"


def _names(assignment: str | list[str] | None) -> str | list[str] | None:
    """Without the slash that a shell puts behind a folder's name."""
    if isinstance(assignment, list):
        return [name.rstrip("/") or name for name in assignment]
    return assignment and (assignment.rstrip("/") or assignment)


if __name__ == "__main__":
    sys.exit(main())

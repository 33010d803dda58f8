"""``autograder ci SUBMISSION_DIR --assignment NAME``: grade one submission where a machine reads the result.

Exit codes: 0 graded; 1 graded, with fewer points than --fail-under asks for; 2 no grade could be given.
"""

from __future__ import annotations

import argparse
import math
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.ci import Disclosure, Outcome
    from autograder.classroom.workers import Isolation


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("ci", help="grade one submission in CI", description=__doc__)
    parser.add_argument("submission", type=Path, metavar="SUBMISSION_DIR", help="the folder that holds the notebooks")
    parser.add_argument("--assignment", required=True, metavar="NAME")
    parser.add_argument("--out", type=Path, default=Path("ci-results"), metavar="DIR", help="default: ci-results")
    parser.add_argument("--student", metavar="ID", help="as the results name them (default: the folder's name)")
    parser.add_argument("--fail-under", metavar="POINTS", help="exit code 1 below so many points")
    add_disclosure(parser)
    parser.add_argument("--no-isolation", action="store_true", help="run the submission unconfined: only your own")
    parser.set_defaults(func=run, first=remove_old_results)


def remove_old_results(args: argparse.Namespace) -> None:
    """Results of an earlier run must never pass for this one's, whatever is wrong with this one."""
    from autograder.ci import FILES
    from autograder.files.atomic import writing

    for name in FILES:
        with writing(args.out / name):
            (args.out / name).unlink(missing_ok=True)


def add_disclosure(parser: argparse.ArgumentParser) -> None:
    """The two options that hold back what hidden tests say."""
    held = parser.add_mutually_exclusive_group()
    held.add_argument("--visible-only", action="store_true", help="show the visible checks; hold hidden tests back")
    held.add_argument("--until", metavar="DATETIME", help="hold hidden tests back until then: 2026-12-01T18:00+01:00")


def run(args: argparse.Namespace) -> int:
    from autograder.ci import FILES, Disclosure, grade_folder, write_outcome
    from autograder.model.course import Course

    disclosure, limit = _disclosure(args, datetime.now(UTC)), _limit(args.fail_under)
    if limit is not None and disclosure is not Disclosure.NOW:
        raise GradingError("--fail-under would tell what hidden tests said: leave it out while they are held back")
    if not args.submission.is_dir():
        raise GradingError(f"there is no folder {args.submission}: expected the one that holds the notebooks")
    if args.no_isolation:
        print("Without isolation the submission can read references, write files and use the network.", file=sys.stderr)
    student = args.student or args.submission.resolve().name
    isolation: Isolation = "none" if args.no_isolation else "auto"
    outcome = grade_folder(Course(args.course), args.assignment, args.submission, student, isolation)
    write_outcome(args.out, outcome, disclosure)
    print(_line(outcome, disclosure))
    print(f"{', '.join(FILES)} are in {args.out}")
    if outcome.failure:
        return 2
    return 1 if limit is not None and outcome.points < limit else 0


def _limit(text: str | None) -> float | None:
    """Read here and not by argparse, which would end before the results of an earlier run are removed."""
    try:
        limit = None if text is None else float(text)
    except ValueError:
        limit = math.nan
    if limit is not None and not math.isfinite(limit):
        raise GradingError(f"--fail-under takes a number of points, not {text!r}")
    return limit


def _disclosure(args: argparse.Namespace, now: datetime) -> Disclosure:
    from autograder.ci import Disclosure

    if args.until is None:
        return Disclosure.AFTER_PUBLISHED if args.visible_only else Disclosure.NOW
    return Disclosure.AFTER_DUE_DATE if now < moment(args.until) else Disclosure.NOW


def moment(text: str) -> datetime:
    """An aware moment. Raises GradingError where the text is none, or names no time zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise GradingError(f"--until takes a moment with its time zone, say 2026-12-01T18:00+01:00, not {text!r}")
    return when


def _line(outcome: Outcome, disclosure: Disclosure) -> str:
    """What may stand in a log that the student reads."""
    from autograder.ci import Disclosure

    if outcome.failure:
        return f"{outcome.student}: not graded: {outcome.failure}"
    if disclosure is Disclosure.NOW:
        return f"{outcome.student}: {outcome.points:g} of {outcome.max_points:g} points"
    checks = [exercise.visible for notebook in outcome.notebooks for exercise in notebook.exercises]
    passed = sum(check is not None and check.status == "passed" for check in checks)
    total = sum(check is not None for check in checks)
    return f"{outcome.student}: {passed} of {total} visible checks pass; hidden tests are held back"

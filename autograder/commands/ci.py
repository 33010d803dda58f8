"""``autograder ci ASSIGNMENT SUBMISSION_DIR``: grade one submission where a machine reads the result."""

import math
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands._options import AssignmentName, Until, VisibleOnly, check_one, moment, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.ci.outcome import Disclosure, SubmissionOutcome
    from autograder.classroom.workers import Isolation

EXAMPLE = "autograder ci distilbert release/distilbert --out reports/ci"


def remove_old_results(out: Path) -> None:
    """Results of an earlier run must never pass for this one's, whatever is wrong with this one."""
    from autograder.ci import FILES
    from autograder.files.atomic import writing

    for name in FILES:
        with writing(out / name):
            (out / name).unlink(missing_ok=True)


def run(
    context: typer.Context,
    assignment: AssignmentName,
    submission: Annotated[
        Path | None,
        typer.Argument(metavar="SUBMISSION_DIR", help="The folder that holds the notebooks.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the results go.")] = Path("ci-results"),
    student: Annotated[
        str | None, typer.Option(metavar="ID", help="As the results name them (default: the folder's name).")
    ] = None,
    fail_under: Annotated[str | None, typer.Option(metavar="POINTS", help="Exit code 1 below so many points.")] = None,
    visible_only: VisibleOnly = False,
    until: Until = None,
    no_isolation: Annotated[
        bool, typer.Option("--no-isolation", help="Run the submission unconfined: only your own.")
    ] = False,
) -> int:
    """Grade one submission where a machine reads the result.

    Exit codes: 0 graded; 1 graded, with fewer points than --fail-under asks for; 2 no grade could be given.
    """
    remove_old_results(out)
    if submission is None:
        raise GradingError(f"name the folder that holds the notebooks: autograder ci {assignment} SUBMISSION_DIR")
    course = open_course(context, submission)

    from autograder.ci import FILES
    from autograder.ci.outcome import Disclosure, grade_folder, write_outcome

    check_one(visible_only, until)
    disclosure, limit = _disclosure(visible_only, until, datetime.now(UTC)), _limit(fail_under)
    if limit is not None and disclosure is not Disclosure.NOW:
        raise GradingError("--fail-under would tell what hidden tests said: leave it out while they are held back")
    if not submission.is_dir():
        raise GradingError(f"there is no folder {submission}: expected the one that holds the notebooks")
    if no_isolation:
        print("Without isolation the submission can read references, write files and use the network.", file=sys.stderr)
    isolation: Isolation = "none" if no_isolation else "auto"
    name = student or submission.resolve().name
    outcome = grade_folder(course, assignment, submission, name, isolation)
    write_outcome(out, outcome, disclosure)
    output = Output(context)
    output.say(_line(outcome, disclosure))
    output.say(f"{', '.join(FILES)} are in {out}")
    if outcome.failure:
        return 2
    return 1 if limit is not None and outcome.points < limit else 0


def _limit(text: str | None) -> float | None:
    """Read here and not by Typer, which would end before the results of an earlier run are removed."""
    try:
        limit = None if text is None else float(text)
    except ValueError:
        limit = math.nan
    if limit is not None and not math.isfinite(limit):
        raise GradingError(f"--fail-under takes a number of points, not {text!r}")
    return limit


def _disclosure(visible_only: bool, until: str | None, now: datetime) -> "Disclosure":
    from autograder.ci.outcome import Disclosure

    if until is None:
        return Disclosure.AFTER_PUBLISHED if visible_only else Disclosure.NOW
    return Disclosure.AFTER_DUE_DATE if now < moment(until) else Disclosure.NOW


def _line(outcome: "SubmissionOutcome", disclosure: "Disclosure") -> str:
    """What may stand in a log that the student reads."""
    from autograder.ci.outcome import Disclosure

    if outcome.failure:
        return f"{outcome.student}: not graded: {outcome.failure}"
    if disclosure is Disclosure.NOW:
        return f"{outcome.student}: {outcome.points:g} of {outcome.max_points:g} points"
    checks = [exercise.visible for notebook in outcome.notebooks for exercise in notebook.exercises]
    passed = sum(check is not None and check.status == "passed" for check in checks)
    total = sum(check is not None for check in checks)
    return f"{outcome.student}: {passed} of {total} visible checks pass; hidden tests are held back"

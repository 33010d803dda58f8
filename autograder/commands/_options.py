"""Options and arguments that commands share."""

import inspect
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.errors import GradingError
from autograder.model.plain_text import one_form

if TYPE_CHECKING:
    from autograder.model.course import Course


logger = logging.getLogger(__name__)


def _each(change: Callable[[str], str]) -> Callable[[Any], Any]:
    """What is done with one name that is given, or with several."""
    return lambda given: list(map(change, given)) if isinstance(given, list) else given and change(given)


def _assignments(incomplete: str) -> list[str]:
    """For the shell's completion: the folders in ``source/``, without the second that nbgrader's settings take."""
    return [path.name for path in Path("source").glob(f"{incomplete}*") if path.is_dir()]


#: A shell puts a slash behind a folder's name.
_NAME: dict[str, Any] = {
    "callback": _each(lambda name: name.rstrip("/") or name),
    "autocompletion": _assignments,
    "show_default": False,
}
AssignmentName = Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="Its folder's name in source/.", **_NAME)]
OneAssignment = Annotated[
    str | None, typer.Argument(metavar="ASSIGNMENT", help="Its folder's name in source/.", **_NAME)
]
SomeAssignments = Annotated[
    list[str], typer.Argument(metavar="ASSIGNMENT", help="Its folder's name in source/.", **_NAME)
]
AssignmentNames = Annotated[
    list[str] | None, typer.Argument(metavar="ASSIGNMENT", help="Default: every assignment.", **_NAME)
]
Students = Annotated[
    list[str] | None,
    typer.Option("--student", metavar="ID", help="This student only. May be repeated.", callback=_each(one_form)),
]
ExerciseName = Annotated[
    str, typer.Argument(metavar="EXERCISE", help="Grade id of its cell; NOTEBOOK/EXERCISE where it is in two.")
]
StudentName = Annotated[str, typer.Argument(metavar="STUDENT", help="Whose submission.", callback=_each(one_form))]
RequireOutside = Annotated[
    bool,
    typer.Option("--require-outside", help="Refuse an assignment whose tests run in the student's own kernel."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for a program.")]


@dataclass
class GlobalOptions:
    """What every command takes, before or after its name."""

    course_dir: Path | None = None
    quiet: bool = False
    verbose: bool = False
    debug: bool = False

    def start_logging(self) -> None:
        """Send the grader's log to stderr: its progress with ``-v``, everything with ``--debug``."""
        level = logging.DEBUG if self.debug else logging.INFO if self.verbose else logging.WARNING
        logger = logging.getLogger("autograder")
        logger.setLevel(level)
        logger.handlers = [logging.StreamHandler()]
        logger.handlers[0].setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))


_FOLDER: dict[str, Any] = {"metavar": "FOLDER", "show_default": False}
#: Parameter, annotation, default. Each option may stand before the command and after it.
_GLOBAL: tuple[tuple[str, Any, Any], ...] = (
    (
        "course_dir",
        Annotated[
            Path | None,
            typer.Option("--course-dir", help="The course's folder (default: here or above).", **_FOLDER),
        ],
        None,
    ),
    ("course", Annotated[Path | None, typer.Option("--course", hidden=True, **_FOLDER)], None),
    ("quiet", Annotated[bool, typer.Option("--quiet", help="Say only what is wrong.")], False),
    (
        "verbose",
        Annotated[bool, typer.Option("--verbose", "-v", help="Say on stderr what is being done.")],
        False,
    ),
    (
        "debug",
        Annotated[bool, typer.Option("--debug", help="Say everything, with tracebacks of unexpected errors.")],
        False,
    ),
)


def with_global_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the global options among its parameters, for Typer; ``context.obj`` keeps what they say."""
    signature = inspect.signature(command, eval_str=True)

    def run(**given: Any) -> Any:
        if given["context"].invoked_subcommand is None:  # else the command comes, or its help
            from autograder.model.nbgrader import import_nbgrader

            import_nbgrader()  # before anything else imports it whole
        options: GlobalOptions = given["context"].obj
        for name, _, default in _GLOBAL:
            value = given.pop(name)
            if value != default:
                setattr(options, "course_dir" if name == "course" else name, value)
        options.start_logging()
        return command(**given)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, annotation, default in _GLOBAL
    ]
    run.__doc__ = command.__doc__
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def started_in(context: typer.Context) -> Path:
    """The folder that a course is looked for from."""
    return context.obj.course_dir or Path.cwd()


def is_outside(context: typer.Context, course: "Course") -> bool:
    """Whether a configuration led to a course in another folder: that of a copy may name the original."""
    return not started_in(context).resolve().is_relative_to(course.root.resolve())


def open_course(context: typer.Context, submission: Path | None = None) -> "Course":
    """The course that the command works on. Raises GradingError where there is none.

    submission: a folder that a student filled; no configuration is taken from there.
    """
    from autograder.files.atomic import keep_out_of_git
    from autograder.model.course import Course
    from autograder.model.settings import find_course

    course = Course(find_course(started_in(context), submission))
    if is_outside(context, course):
        where = f"working on {course.root}, which {started_in(context)} names as c.CourseDirectory.root"
        print(f"autograder: {where}", file=sys.stderr)
    logger.info("course %s, settings from %s", course.root, course.settings.config or "nbgrader's defaults")
    context.call_on_close(lambda: keep_out_of_git(course.root))
    if course.settings.groupshared:
        os.umask(0o007)  # every instructor of the group may go on with what another one began
    return course


VisibleOnly = Annotated[
    bool, typer.Option("--visible-only", help="Show the visible checks; hold hidden tests back. Not with --until.")
]
Until = Annotated[
    str | None, typer.Option(metavar="DATETIME", help="Hold hidden tests back until then: 2026-12-01T18:00+01:00.")
]


def check_one(visible_only: bool, until: str | None) -> None:
    """Raises GradingError where both are given."""
    if visible_only and until is not None:
        raise GradingError("--visible-only holds hidden tests back for good, --until for a time: give one of them")


def moment(text: str) -> datetime:
    """An aware moment. Raises GradingError where the text is none, or names no time zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise GradingError(f"--until takes a moment with its time zone, say 2026-12-01T18:00+01:00, not {text!r}")
    return when


def day(text: str) -> datetime:
    """A day, or a moment, which is UTC's where it names no time zone. Raises GradingError where the text is neither."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise GradingError(f"--until takes a day such as 2027-01-15, or a time, not {text!r}") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)

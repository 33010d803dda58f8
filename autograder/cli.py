"""The ``autograder`` command: finds the commands, sets up the process, turns errors into one line and an exit code.

Exit codes: 0 done; 1 done, but something is wrong and listed; 2 nothing could be done; 130 stopped by the user.

Each module in :mod:`autograder.commands` without a leading underscore is a command of its name, with ``-`` in the place
of ``_``. It defines ``run``, a function as Typer takes it, which returns the exit code, and ``EXAMPLE``, a command line
for its help.
"""

import atexit
import gc
import logging
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from autograder import commands
from autograder.commands._options import GlobalOptions, with_global_options
from autograder.errors import GOES_ON, GradingError, gradebook_said

PROGRAM = "autograder"
#: The exit code that Typer makes of Ctrl-C.
STOPPED = 130
#: Garbage is looked for this seldom: importing makes a million objects and no garbage, and looking is a sixth of it.
GARBAGE = 50_000, 20, 20
#: What the user can mend, by module: looked up only where the module has been imported, so that help need not do so.
EXPECTED = (("autograder.isolation.selftest", "IsolationUnavailable"),)
#: How the help groups the commands, in the order in which they are needed.
PANELS = {
    "Every week": (
        "release", "publish", "collect", "grade", "status", "assign-graders", "mark", "feedback", "report", "export",
    ),
    "When something is wrong": ("explain", "accept", "regrade", "waive", "doctor"),
    "Once a term": ("init", "adopt", "references", "term", "student"),
    "For authors of exercises": ("new", "check", "mutants", "convert"),
    "Elsewhere, and other machines": ("ci", "bundle"),
}  # fmt: skip
#: Typer exports this subclass of the error, not the error itself.
USAGE_ERROR: Any = typer.BadParameter.__base__

logger = logging.getLogger(__name__)


def command_names() -> list[str]:
    return [
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(commands.__path__)
        if not module.name.startswith("_")
    ]


class InPanels(typer.core.TyperGroup):
    """The commands, grouped in the help; typer's own panels need rich, which takes longer than most commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in PANELS.items():
            known = [(name, self.commands[name]) for name in names if name in self.commands]
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(90)) for name, one in known])


def app() -> typer.Typer:
    """All commands. Add one by adding a module to :mod:`autograder.commands`."""
    made = typer.Typer(
        name=PROGRAM,
        cls=InPanels,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Example: autograder grade distilbert --workers 4",
        rich_markup_mode=None,  # plain help starts in half the time
    )
    made.callback()(with_global_options(_autograder))
    for name in command_names():
        module = import_module(f"{commands.__name__}.{name.replace('-', '_')}")
        short_help = (module.run.__doc__ or "").strip().partition("\n")[0]
        made.command(name, short_help=short_help, epilog=f"Example: {module.EXAMPLE}")(with_global_options(module.run))
    return made


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"{PROGRAM} {version('transformer-course-autograder')}")
        raise typer.Exit


def _autograder(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Grade the notebooks of a course: rebuilt, run confined, judged outside the process that ran students' code."""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. What the user can mend is said in one line, without a traceback."""
    gc.set_threshold(*GARBAGE)
    atexit.register(gc.freeze)  # a process that ends need not look through all that it has
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread per kernel: many kernels, few cores
    # nbgrader calls alembic by name, also where nobody activated the environment
    programs, path = str(Path(sys.executable).parent), os.environ.get("PATH", "")
    if programs not in path.split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + path
    options = GlobalOptions()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended or interrupted: the same is put in order
    try:
        code = _call(app())(args=argv, prog_name=PROGRAM, standalone_mode=False, obj=options)
        return _stopped(argv or sys.argv) if code == STOPPED else int(code or 0)
    except typer.Abort:  # the end of the input where a question was asked
        return _stopped(argv or sys.argv)
    except USAGE_ERROR as error:
        command = error.ctx.command_path if error.ctx else PROGRAM
        message = " ".join(error.format_message().replace("Value error, ", "").split())
        return _say(f"{message}\nTry '{command} --help'.")
    except Exception as error:
        from autograder.model.plain_text import MAX_TEXT, one_line

        logger.debug("the traceback:", exc_info=True)
        said = _said(error)
        if said is None:
            said = f"unexpected {type(error).__name__}: {error}"
            said += "" if options.debug else "; the same command with --debug shows where"
        return _say(one_line(said, MAX_TEXT))


def _stopped(words: Sequence[str]) -> int:
    goes_on = {"grade", "regrade", "collect", "mark", "mutants"} & {*words}
    return _say(f"stopped; {GOES_ON if goes_on else 'the same command begins anew'}", STOPPED)


def _call(made: typer.Typer) -> Callable[..., Any]:
    return typer.main.get_command(made).main


def _say(text: str, code: int = 2) -> int:
    print(f"{PROGRAM}: {text}", file=sys.stderr)
    return code


def _said(error: Exception) -> str | None:
    """What to say of an error that the user can mend; None for any other."""
    if isinstance(error, GradingError):
        return str(error)
    if any(isinstance(error, _imported(*name)) for name in EXPECTED):
        return " ".join(str(error).splitlines())
    if isinstance(error, _imported("sqlalchemy.exc", "DatabaseError")):
        return f"the gradebook cannot be used: {gradebook_said(error)}"
    return None


def _imported(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, ())


if __name__ == "__main__":
    sys.exit(main())

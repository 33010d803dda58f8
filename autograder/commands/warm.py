"""``autograder warm``: keep ready what every grading has to import, so that the next commands start at once."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from autograder.commands._options import open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

EXAMPLE = "autograder warm --minutes 60"


def run(
    context: typer.Context,
    minutes: Annotated[
        float, typer.Option(metavar="N", help="End when no command has used it for so long.", show_default=True)
    ] = 30.0,
    stop: Annotated[bool, typer.Option("--stop", help="End what is kept ready, for every course of yours.")] = False,
) -> int:
    """Keep ready what every grading imports first.

    The next commands on this course start earlier. A process without any answer or submission in it. Where the
    library, the grader or a package changes, it is not used any more.
    """
    from autograder.isolation import available
    from autograder.kernel import warm
    from autograder.kernel.imports import imports_of

    output = Output(context)
    available()
    if stop:
        output.say(f"{warm.stop()} ended")
        return 0
    if not 0 < minutes < math.inf:
        raise GradingError(f"--minutes must be a number above 0, not {minutes:g}")
    course = open_course(context)
    imports = imports_of(course)
    if found := warm.kept_fork_server(imports):
        found.close()
        output.say("it is ready already")
        return 0
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.kernel.keep_warm"], cwd="/", start_new_session=True, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    with process.stdin, process.stdout:
        json.dump({"imports": asdict(imports), "idle_seconds": 60 * minutes}, process.stdin)
        process.stdin.close()
        said = process.stdout.read().strip()
    if said != "ready":
        raise GradingError(f"nothing could be kept ready: {said or 'the process ended at once'}")
    output.say(f"ready; it ends when no command has used it for {minutes:g} minutes, or with 'autograder warm --stop'")
    return 0

"""``autograder bundle gradescope ASSIGNMENT``: everything that grades one assignment, in one zip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.commands._disclosure import Until, VisibleOnly, check_one, moment
from autograder.commands._options import AssignmentName, open_course
from autograder.commands._output import Output

EXAMPLE = "autograder bundle gradescope distilbert --visible-only"


def run(
    context: typer.Context,
    kind: Annotated[
        Literal["gradescope"],
        typer.Argument(metavar="gradescope", help="For Gradescope's 'Configure Autograder' page."),
    ],
    assignment: AssignmentName,
    out: Annotated[Path | None, typer.Option(metavar="FILE.zip", help="Default: ASSIGNMENT-gradescope.zip.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Draw references of its own, for practice: not those that you grade with.")
    ] = None,
    extra_index_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where pip also looks, say for PyTorch's CPU builds.")
    ] = None,
    visible_only: VisibleOnly = False,
    until: Until = None,
    no_isolation: Annotated[
        bool, typer.Option("--no-isolation", help="Run submissions unconfined, where the container cannot confine.")
    ] = False,
) -> int:
    """Pack what grades one assignment elsewhere."""
    from autograder.release.bundle import BundleSettings, write_bundle

    course = open_course(context)
    check_one(visible_only, until)
    options = ["--visible-only"] if visible_only else []
    if until is not None:
        options += ["--until", moment(until).isoformat()]
    if no_isolation:
        options.append("--no-isolation")
    pip_options = ["--extra-index-url", extra_index_url] if extra_index_url else []
    out = out or Path(f"{assignment}-gradescope.zip")
    size = write_bundle(course, assignment, BundleSettings(options, pip_options, seed), out)
    Output(context).say(f"{out}: {size / 1e6:.0f} MB")
    return 0

"""``autograder canvas pull|push``, the old name of ``collect --from canvas`` and ``export --to canvas --push``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.commands._options import AssignmentName
from autograder.commands._output import Output

EXAMPLE = "autograder canvas push distilbert --yes"
HIDDEN = True


def run(
    context: typer.Context,
    direction: Annotated[Literal["pull", "push"], typer.Argument(metavar="pull|push", help="The old names.")],
    assignment: AssignmentName,
    names: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="With pull, as in collect.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write.")] = False,
    force: Annotated[bool, typer.Option("--force", help="With pull, as in collect.")] = False,
) -> int:
    """Say what replaces this command, and do it. It goes in the next version."""
    from autograder.commands import collect, export
    from autograder.errors import GradingError

    way = f"collect {assignment} --from canvas" if direction == "pull" else f"export {assignment} --to canvas --push"
    Output(context).warn(f"autograder: 'canvas {direction}' is now 'autograder {way}'; the old name goes next")
    if direction == "pull":
        return collect.run(context, assignment, kind="canvas", names=names, yes=yes, force=force)
    if names or force:
        raise GradingError("--names and --force go with 'canvas pull'")
    return export.run(context, to="canvas", assignment=assignment, push=True, yes=yes)

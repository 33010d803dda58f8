"""``autograder bundle gradescope|github ASSIGNMENT``: everything that grades one assignment elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autograder.commands._options import AssignmentName, Until, VisibleOnly, check_one, moment, open_course
from autograder.commands._output import Output

if TYPE_CHECKING:
    from autograder.model.course import Course
    from autograder.release.bundle import BundleSettings

EXAMPLE = "autograder bundle gradescope distilbert --visible-only"


def run(
    context: typer.Context,
    kind: Annotated[
        Literal["gradescope", "github"],
        typer.Argument(
            metavar="gradescope|github",
            help="A zip for Gradescope; or a folder for repositories on GitHub and for Classroom 50.",
        ),
    ],
    assignment: AssignmentName,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Default: ASSIGNMENT-gradescope.zip, or -github.")
    ] = None,
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
    from contextlib import nullcontext

    from autograder.authoring.packs import patched_solutions
    from autograder.release.bundle import BundleSettings, write_bundle

    course = open_course(context)
    check_one(visible_only, until)
    options = ["--visible-only"] if visible_only else []
    if until is not None:
        options += ["--until", moment(until).isoformat()]
    if no_isolation:
        options.append("--no-isolation")
    pip_options = ["--extra-index-url", extra_index_url] if extra_index_url else []
    drawing = patched_solutions(course, assignment) if kind == "github" or seed is not None else nullcontext()
    with drawing as run:
        settings = BundleSettings(options, pip_options, seed, run)
        if kind == "github":
            return _github(Output(context), course, assignment, settings, out or Path(f"{assignment}-github"))
        out = out or Path(f"{assignment}-gradescope.zip")
        size = write_bundle(course, assignment, settings, out)
    Output(context).say(f"{out}: {size / 1e6:.0f} MB")
    return 0


def _github(output: Output, course: "Course", assignment: str, settings: "BundleSettings", out: Path) -> int:
    from autograder.release.bundle import write_folder

    for path in write_folder(course, assignment, settings, out):
        output.say(str(path))
    if course.file.library and course.file.repository == course.file.placeholder:
        output.say("  The repository is still the placeholder: Classroom 50 will look for the library there.")
    return 0

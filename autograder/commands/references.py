"""``autograder references [ASSIGNMENT ...]``: draw the stored cases anew from a seed, with their expected answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands._options import AssignmentNames, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.model.course import Course


EXAMPLE = "autograder references distilbert --seed new"


def run(
    context: typer.Context,
    assignment: AssignmentNames = None,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Another seed makes another exam; 'new' picks one nobody can guess. Default: that of before, if any.",
        ),
    ] = None,
) -> int:
    """Draw hidden inputs and expected answers from a seed."""
    from autograder.references import store
    from autograder.references.draw import new_seed

    course = open_course(context)
    known = course.assignments()
    names = assignment or known
    if not names:
        raise GradingError(f"{course.root} holds no assignment: expected source/<assignment>/<notebook>.ipynb")
    references = store.References.of_course(course.root)
    for name in names:
        if name not in known:
            raise GradingError(f"unknown assignment {name!r}; known are {', '.join(known) or 'none'}")
        references.exercises(name)  # all of them exist before the first is drawn anew
    chosen = None if seed is None else _seed(seed)
    for name in names:
        before = references.seed(name) if chosen is None else chosen
        _build(Output(context), course, name, new_seed() if before is None else before)
    return 0


def _seed(text: str) -> int:
    from autograder.references.draw import VISIBLE_SEED, new_seed

    if text == "new":
        return new_seed()
    if not text.isdecimal() or int(text) == VISIBLE_SEED:
        raise GradingError(
            f"--seed must be a whole number, 0 or more, but not {VISIBLE_SEED} (the seed of the visible checks' public "
            f"cases), or the word new; not {text!r}"
        )
    return int(text)


def _build(output: Output, course: Course, name: str, seed: int) -> None:
    from autograder.authoring.packs import write_library
    from autograder.authoring.patched import patched_solutions
    from autograder.references.store import References

    references = References.of_course(course.root)
    with patched_solutions(course, name) as run:
        folder = references.build(name, seed, run=run)
        for path in write_library(course, name, run):
            output.say(f"{_short(path)}: {'written' if path.is_file() else 'removed'}")
    exercises = references.exercises(name)
    count = sum(len(references.cases(slug)) for slug in exercises)
    output.say(f"{_short(folder)}: {len(exercises)} exercises, {count} cases, seed {seed}")
    if warning := references.warning(name):
        print(warning, file=sys.stderr)


def _short(folder: Path) -> Path:
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
